#include "rpc/wire/convert.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include "kindred/v1/node.pb.h"
#include "rpc/testing/any_values.h"

namespace kin::rpc {
namespace {

namespace v1 = kindred::v1;
using router::Reply;
using router::Request;
using router::Response;
using testing::HasSubstr;

template <typename T, typename M>
std::string printed(const T& value, M message) {
  Printer printer;
  printer.print(value, message);
  return printer.text;
}

// The message after a journey over a wire.
template <typename Message>
Message sent(const Message& message) {
  Message arrived;
  EXPECT_TRUE(arrived.ParseFromString(message.SerializeAsString()));
  return arrived;
}

// Fields that this program does not know.
google::protobuf::UnknownFieldSet& unknown(google::protobuf::Message& message) {
  return *message.GetReflection()->MutableUnknownFields(&message);
}

// A value of one alternative of a variant.
template <typename Variant, typename Message>
Variant random_value(std::size_t alternative, std::uint64_t seed) {
  for (;; seed += 1'000'003) {
    Filler filler(seed);
    Variant value;
    Message message;
    filler.fill(value, message);
    if (value.index() == alternative) return value;
  }
}

TEST(Convert, EveryRequestArrivesAsItWasSent) {
  for (std::size_t kind = 0; kind < std::variant_size_v<Request>; ++kind) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const Call call{.index = "papers",
                      .map_epoch = seed,
                      .divided = 2 * seed,
                      .shard = {.low = seed, .high = kind},
                      .most_behind = seed % 2 == 0 ? std::optional(std::chrono::milliseconds{seed})
                                                   : std::nullopt,
                      .request = random_value<Request, v1::Request>(kind, seed)};
      v1::CallRequest message;
      to_wire(call, message);
      const auto arrived = from_wire(sent(message));
      ASSERT_TRUE(arrived.ok()) << arrived.error().message;
      EXPECT_EQ(arrived->index, "papers");
      EXPECT_EQ(arrived->map_epoch, seed);
      EXPECT_EQ(arrived->divided, 2 * seed);
      EXPECT_EQ(arrived->shard, call.shard);
      EXPECT_EQ(arrived->most_behind, call.most_behind);
      ASSERT_EQ(printed(arrived->request, v1::Request()), printed(call.request, v1::Request()));
    }
  }
}

TEST(Convert, EveryResponseArrivesAsItWasSent) {
  for (std::size_t kind = 0; kind < std::variant_size_v<Response>; ++kind) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const auto response = random_value<Response, v1::Response>(kind, seed);
      v1::CallReply message;
      to_wire(Reply<Response>(std::variant<Response, router::Refused>(response)), message);
      const Reply<Response> arrived = from_wire(sent(message));
      ASSERT_TRUE(arrived.ok()) << arrived.error().message;
      ASSERT_EQ(arrived->index(), 0U);
      ASSERT_EQ(printed(std::get<Response>(*arrived), v1::Response()),
                printed(response, v1::Response()));
    }
  }
}

TEST(Convert, ValuesThatDifferHaveDifferentTexts) {
  const auto text = [](const index::Validity& validity) {
    return printed(validity, v1::Validity());
  };
  EXPECT_EQ(text({.from = 1, .until = 2}), text({.from = 1, .until = 2}));
  EXPECT_NE(text({.from = 1, .until = 2}), text({.from = 2, .until = 1}));
  const auto one = random_value<Request, v1::Request>(7, 1);
  const auto other = random_value<Request, v1::Request>(7, 2);
  EXPECT_NE(printed(one, v1::Request()), printed(other, v1::Request()));
}

TEST(Convert, RefusalsAndErrorsArriveAsTheyWere) {
  v1::CallReply refused;
  to_wire(Reply<Response>(std::variant<Response, router::Refused>(router::Refused{.epoch = 7})),
          refused);
  const auto arrived = from_wire(sent(refused));
  ASSERT_TRUE(arrived.ok());
  EXPECT_EQ(std::get<router::Refused>(*arrived), router::Refused{.epoch = 7});
  for (const Code code : {Code::kInvalidArgument, Code::kNotFound, Code::kFailedPrecondition,
                          Code::kResourceExhausted, Code::kDataLoss, Code::kUnavailable,
                          Code::kCancelled, Code::kInternal}) {
    v1::CallReply failed;
    to_wire(Reply<Response>(Error{code, "why \xff"}), failed);
    const auto failure = from_wire(sent(failed));
    ASSERT_FALSE(failure.ok());
    EXPECT_EQ(failure.error().code, code);
    EXPECT_EQ(failure.error().message, "why \xff");
  }
}

TEST(Convert, FieldsOfANewerPeerAreIgnored) {
  v1::CallRequest message;
  to_wire({.index = "papers", .request = router::GetRequest{.ids = {doc_id_of("test", "a")}}},
          message);
  unknown(message).AddVarint(1'000, 1);
  unknown(*message.mutable_request()->mutable_get()).AddLengthDelimited(1'000, "from the future");
  const auto call = from_wire(sent(message));
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(std::get<router::GetRequest>(call->request).ids.size(), 1U);
}

TEST(Convert, FieldsThatAnOlderPeerDoesNotSendAreZeroOrAbsent) {
  v1::CallRequest message;
  message.mutable_request()->mutable_find();
  const auto call = from_wire(sent(message));
  ASSERT_TRUE(call.ok());
  const auto& find = std::get<router::FindRequest>(call->request);
  EXPECT_FALSE(find.statistics.has_value());
  EXPECT_FALSE(find.query.text.has_value());
  EXPECT_EQ(find.query.k, 0U);
}

Error refusal(const v1::CallRequest& message) {
  const auto call = from_wire(sent(message));
  KIN_CHECK(!call.ok(), "the message is refused");
  return call.error();
}

TEST(Convert, ARequestThatIsNotKnownIsRefused) {
  v1::CallRequest message;
  EXPECT_EQ(refusal(message).code, Code::kInvalidArgument);
  unknown(*message.mutable_request()).AddLengthDelimited(1'000, "");
  EXPECT_EQ(refusal(message).code, Code::kInvalidArgument);
  v1::CallReply reply;
  unknown(*reply.mutable_response()).AddLengthDelimited(1'000, "");
  EXPECT_FALSE(from_wire(sent(reply)).ok());
  EXPECT_FALSE(from_wire(v1::CallReply()).ok());
}

TEST(Convert, ValuesThatDoNotFitAreRefusedByTheirName) {
  v1::CallRequest message;
  message.mutable_request()->mutable_heads()->add_ids("five!");
  EXPECT_THAT(refusal(message).message, HasSubstr("\"ids\""));
  message.mutable_request()->mutable_edges()->set_direction(static_cast<v1::Direction>(3));
  EXPECT_THAT(refusal(message).message, HasSubstr("\"direction\""));
  message.mutable_request()->mutable_edges()->set_direction(static_cast<v1::Direction>(-1));
  EXPECT_THAT(refusal(message).message, HasSubstr("\"direction\""));
  message.mutable_request()->mutable_find()->mutable_query()->mutable_scope()->set_kinds(256);
  EXPECT_THAT(refusal(message).message, HasSubstr("\"kinds\""));
  message.mutable_request()->mutable_write()->add_mutations();
  EXPECT_THAT(refusal(message).message, HasSubstr("\"mutations\""));
  v1::CallReply reply;
  reply.mutable_response()->mutable_digest()->add_digest("");
  EXPECT_EQ(from_wire(sent(reply)).error().code, Code::kInvalidArgument);
}

// Peers of other versions know these bytes: they do not change.
TEST(Convert, ACallHasTheBytesThatItAlwaysHad) {
  index::PutEntity put{.partition = index::PartitionId{3}};
  put.entity.id.bytes.fill(0xab);
  put.entity.key = "k";
  put.entity.title = "Tide";
  put.entity.attributes = {{.name = "year", .value = std::int64_t{-2}}};
  put.entity.vectors = {{.space = "main", .values = {1.5F}}};
  const Call call{.index = "papers",
                  .map_epoch = 5,
                  .request = router::WriteRequest{.id = {.session = 1, .sequence = 2},
                                                  .mutations = {put},
                                                  .partitions = {index::PartitionId{3}}}};
  v1::CallRequest message;
  to_wire(call, message);
  std::string hex;
  for (const char c : message.SerializeAsString())
    hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  EXPECT_EQ(hex,
            "0a0670617065727310051a60125e0a040801100212530a510a4d0a10abababababababababababab"
            "abababab12016b2204546964653a0a0a047965617212021003420c0a046d61696e12040000c03f4a"
            "1608ffffffffffffffffff0110feffffffffffffffff0110031a0103");
}

}  // namespace
}  // namespace kin::rpc
