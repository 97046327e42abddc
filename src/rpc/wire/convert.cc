#include "rpc/wire/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kindred/v1/node.pb.h"
#include "rpc/wire/node_messages.h"

namespace kin::rpc {
namespace v1 = kindred::v1;
namespace {

// Numbers travel, so the enumerations must agree.
template <typename Domain, typename Wire>
constexpr bool same(Domain domain, Wire wire) {
  return static_cast<int>(domain) == static_cast<int>(wire);
}
using index::Direction, index::DocKind, index::Effect, index::Fusion, index::LegKind;
using Syntax = index::TextLeg::Syntax;
static_assert(same(Effect::kDone, v1::EFFECT_DONE) && same(Effect::kStale, v1::EFFECT_STALE) &&
              same(Effect::kAbsent, v1::EFFECT_ABSENT) &&
              same(Effect::kDuplicate, v1::EFFECT_DUPLICATE) &&
              same(Effect::kNotOwned, v1::EFFECT_NOT_OWNED) &&
              same(Effect::kOldEpoch, v1::EFFECT_OLD_EPOCH));
static_assert(same(Direction::kOut, v1::DIRECTION_OUT) && same(Direction::kIn, v1::DIRECTION_IN) &&
              same(Direction::kBoth, v1::DIRECTION_BOTH));
static_assert(same(Syntax::kLanguage, v1::SYNTAX_LANGUAGE) &&
              same(Syntax::kPlain, v1::SYNTAX_PLAIN));
static_assert(same(Fusion::kAlpha, v1::FUSION_ALPHA) && same(Fusion::kRrf, v1::FUSION_RRF));
static_assert(same(DocKind::kEntity, v1::DOC_KIND_ENTITY) &&
              same(DocKind::kEdge, v1::DOC_KIND_EDGE) &&
              same(DocKind::kEntityFragment, v1::DOC_KIND_ENTITY_FRAGMENT) &&
              same(DocKind::kEdgeFragment, v1::DOC_KIND_EDGE_FRAGMENT));
static_assert(same(LegKind::kText, v1::LEG_KIND_TEXT) &&
              same(LegKind::kVector, v1::LEG_KIND_VECTOR) &&
              same(LegKind::kGraph, v1::LEG_KIND_GRAPH));

// gRPC's numbers of the codes.
constexpr std::array<std::pair<Code, int>, 8> kCodes{{{Code::kInvalidArgument, 3},
                                                      {Code::kNotFound, 5},
                                                      {Code::kFailedPrecondition, 9},
                                                      {Code::kResourceExhausted, 8},
                                                      {Code::kDataLoss, 15},
                                                      {Code::kUnavailable, 14},
                                                      {Code::kCancelled, 1},
                                                      {Code::kInternal, 13}}};

}  // namespace

Error Reader::failure() const {
  return {Code::kInvalidArgument,
          fmt::format("the field \"{}\" of a message is missing or has a value that this program "
                      "does not know",
                      wrong_)};
}

void to_wire(const Call& call, v1::CallRequest& message) {
  message.set_index(call.index);
  message.set_map_epoch(call.map_epoch);
  message.set_divided(call.divided);
  message.set_shard(to_bytes(call.shard));
  if (call.most_behind)
    message.set_most_behind_millis(static_cast<std::uint64_t>(call.most_behind->count()));
  Writer().put(call.request, *message.mutable_request());
}

Result<Call> from_wire(const v1::CallRequest& message) {
  Call call{.index = message.index(),
            .map_epoch = message.map_epoch(),
            .divided = message.divided()};
  if (!from_bytes(message.shard(), call.shard))
    return Error{Code::kInvalidArgument, "the field \"shard\" of a call is not an identity"};
  // Nobody asks for a state that is a year old; a greater number may not fit.
  constexpr std::uint64_t kLongest = std::uint64_t{365} * 24 * 3'600 * 1'000;
  if (message.has_most_behind_millis())
    call.most_behind = std::chrono::milliseconds{std::min(message.most_behind_millis(), kLongest)};
  Reader reader;
  reader.take(message.request(), call.request);
  KIN_RETURN_IF_ERROR(reader.status());
  return call;
}

void to_wire(const router::Reply<router::Response>& reply, v1::CallReply& message) {
  if (!reply.ok()) return to_wire(reply.error(), *message.mutable_failure());
  if (const auto* refused = std::get_if<router::Refused>(&*reply))
    return Writer().put(*refused, *message.mutable_refused());
  Writer().put(std::get<router::Response>(*reply), *message.mutable_response());
}

router::Reply<router::Response> from_wire(const v1::CallReply& message) {
  using Answer = std::variant<router::Response, router::Refused>;
  Reader reader;
  switch (message.outcome_case()) {
    case v1::CallReply::kResponse: {
      Answer answer;
      reader.take(message.response(), std::get<router::Response>(answer));
      KIN_RETURN_IF_ERROR(reader.status());
      return answer;
    }
    case v1::CallReply::kRefused: {
      router::Refused refused;
      reader.take(message.refused(), refused);
      return Answer(refused);
    }
    case v1::CallReply::kFailure: return from_wire(message.failure());
    case v1::CallReply::OUTCOME_NOT_SET: break;
  }
  return Error{Code::kInternal, "a node gave an answer that this program does not know"};
}

void to_wire(const Error& error, v1::Failure& message) {
  for (const auto& [code, number] : kCodes) {
    if (code == error.code) message.set_code(number);
  }
  message.set_message(error.message);
}

Error from_wire(const v1::Failure& message) {
  for (const auto& [code, number] : kCodes) {
    if (number == message.code()) return {code, message.message()};
  }
  return {Code::kInternal, message.message()};
}

}  // namespace kin::rpc
