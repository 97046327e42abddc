#include "cloud/dynamo/batch.h"

#include <fmt/format.h>

#include <algorithm>

#include "cloud/dynamo/protocol.h"

namespace kin::cloud {
namespace {

using data::JsonValue;

// 16 MB of items, plus the overhead of JSON and base64.
constexpr std::uint64_t kLongestAnswer = std::uint64_t{64} << 20;

// One operation over many items. One thread only.
class Batches {
 public:
  virtual ~Batches() = default;

  Status run(std::vector<Item> items, std::size_t at_once) {
    std::size_t sent = 0;
    batch_.run([&] {
      if (failure_ || sent == items.size()) return false;
      const auto begin = items.begin() + static_cast<std::ptrdiff_t>(sent);
      const std::size_t count = std::min(at_once, items.size() - sent);
      const auto end = begin + static_cast<std::ptrdiff_t>(count);
      send({std::make_move_iterator(begin), std::make_move_iterator(end)}, 0);
      sent += count;
      return true;
    });
    return failure_ ? Status(*failure_) : Status(Done{});
  }

 protected:
  Batches(Caller& caller, std::string table, std::string operation)
      : caller_(caller),
        table_(std::move(table)),
        operation_(std::move(operation)),
        batch_(caller) {}

  virtual std::string body(const std::vector<Item>& items) const = 0;
  // Processes an answer, and returns the items that it left out.
  virtual Result<std::vector<Item>> take(const JsonValue& answer) = 0;

  const std::string& table() const { return table_; }

 private:
  // `idle`: the number of tries in a row without progress.
  void send(std::vector<Item> items, int idle) {
    const std::size_t count = items.size();
    Call call = dynamo_call(caller_.options(), operation_, body(items));
    call.most_bytes = kLongestAnswer;
    const auto delay = idle == 0 ? std::chrono::nanoseconds(0) : caller_.jitter(idle);
    batch_.add(
        std::move(call),
        [this, count, idle](const Result<Answer>& answer) { finish(answer, count, idle); }, delay);
  }

  void finish(const Result<Answer>& answer, std::size_t count, int idle) {
    if (failure_) return;
    auto left = left_out(answer);
    if (!left) {
      failure_ = left.error();
      return;
    }
    if (left->empty()) return;
    caller_.count_throttle();
    const int next = left->size() < count ? 1 : idle + 1;
    if (next >= caller_.options().retry.tries)
      failure_ = Error{Code::kResourceExhausted,
                       fmt::format("{}: DynamoDB left {} items of a batch out, {} times in a row",
                                   table_, left->size(), next)};
    else
      send(std::move(*left), next);
  }

  Result<std::vector<Item>> left_out(const Result<Answer>& answer) {
    if (!answer) return answer.error();
    if (answer->verdict != Verdict::kDone) return dynamo_error(table_, *answer);
    KIN_TRY(const JsonValue json, data::parse_json(answer->response.body));
    return take(json);
  }

  Caller& caller_;
  const std::string table_;
  const std::string operation_;
  CallBatch batch_;
  std::optional<Error> failure_;
};

class Writes final : public Batches {
 public:
  Writes(Caller& caller, const std::string& table, WriteKind kind)
      : Batches(caller, table, "BatchWriteItem"), kind_(kind) {}

 private:
  const char* request() const { return kind_ == WriteKind::kPut ? "PutRequest" : "DeleteRequest"; }
  const char* content() const { return kind_ == WriteKind::kPut ? "Item" : "Key"; }

  std::string body(const std::vector<Item>& items) const override {
    JsonWriter json;
    json.begin_object().key("RequestItems").begin_object().key(table()).begin_array();
    for (const Item& item : items) {
      json.begin_object().key(request()).begin_object().key(content());
      write_item(json, item);
      json.end().end();
    }
    return json.end().end().end().take();
  }

  Result<std::vector<Item>> take(const JsonValue& answer) override {
    std::vector<Item> left;
    for (const JsonValue& element : answer["UnprocessedItems"][table()].items()) {
      KIN_TRY(Item item, read_item(element[request()][content()]));
      left.push_back(std::move(item));
    }
    return left;
  }

  const WriteKind kind_;
};

class Gets final : public Batches {
 public:
  Gets(Caller& caller, const std::string& table) : Batches(caller, table, "BatchGetItem") {}

  std::vector<Item> found;

 private:
  std::string body(const std::vector<Item>& keys) const override {
    JsonWriter json;
    json.begin_object().key("RequestItems").begin_object().key(table()).begin_object();
    json.field("ConsistentRead", true).key("Keys").begin_array();
    for (const Item& key : keys) write_item(json, key);
    return json.end().end().end().end().take();
  }

  Result<std::vector<Item>> take(const JsonValue& answer) override {
    KIN_TRY(std::vector<Item> items, read_items(answer["Responses"][table()]));
    std::ranges::move(items, std::back_inserter(found));
    return read_items(answer["UnprocessedKeys"][table()]["Keys"]);
  }
};

}  // namespace

Call dynamo_call(const CloudOptions& options, const std::string& operation, std::string body) {
  std::string url = options.endpoint.empty()
                        ? fmt::format("https://dynamodb.{}.amazonaws.com", options.region)
                        : options.endpoint;
  if (!url.ends_with('/')) url += '/';
  return {.url = std::move(url),
          .headers = {{"Content-Type", "application/x-amz-json-1.0"},
                      {"X-Amz-Target", "DynamoDB_20120810." + operation}},
          .body = std::move(body)};
}

Status write_batches(Caller& caller, const std::string& table, WriteKind kind,
                     std::vector<Item> items) {
  return Writes(caller, table, kind).run(std::move(items), DynamoClient::kBatchWrite);
}

Result<std::vector<Item>> get_batches(Caller& caller, const std::string& table,
                                      std::vector<Item> keys) {
  Gets gets(caller, table);
  KIN_RETURN_IF_ERROR(gets.run(std::move(keys), DynamoClient::kBatchGet));
  return std::move(gets.found);
}

}  // namespace kin::cloud
