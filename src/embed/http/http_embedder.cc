#include "embed/http/http_embedder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "base/json_writer.h"
#include "embed/http/embeddings_answer.h"
#include "net/http_client.h"

namespace kin::embed {
namespace {

using std::chrono::milliseconds;

// A batch of 64 vectors of 4,096 numbers takes about 5 MB as JSON.
constexpr std::uint64_t kMostAnswerBytes = std::uint64_t{64} << 20;
constexpr milliseconds kLongestWait = std::chrono::seconds(60);

net::HttpOptions client_options(const HttpEmbedderOptions& options) {
  // A server that computes is silent for a while: only the whole time counts.
  return {.addresses = options.addresses,
          .budgets = {.bytes = kMostAnswerBytes, .total = options.timeout, .slowest = 0},
          .transfers_per_host = 8};
}

bool says_nothing(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

// Too many requests, or trouble of the server: the same request may succeed in a moment.
bool is_passing(int status) {
  return status == 429 || status >= 500;
}

Error refusal(const net::HttpResponse& response) {
  const std::string said = internal::error_in(response.body);
  const std::string what =
      fmt::format("the server answered {}{}{}", response.status, said.empty() ? "" : ": ", said);
  switch (response.status) {
    case 400:
    case 422: return {Code::kInvalidArgument, what};
    case 401:
    case 403: return {Code::kFailedPrecondition, what + " (is the key right?)"};
    case 404: return {Code::kNotFound, what + " (are the address and the model right?)"};
    default:
      return {is_passing(response.status) ? Code::kUnavailable : Code::kFailedPrecondition, what};
  }
}

// The wait that the server requests in whole seconds; else `usual`.
milliseconds pause_after(const net::HttpResponse& response, milliseconds usual) {
  const std::string_view asked = response.header("retry-after");
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), seconds);
  if (error != std::errc() || end != asked.data() + asked.size()) return usual;
  return std::min(kLongestWait, std::max<milliseconds>(usual, std::chrono::seconds(seconds)));
}

class HttpEmbedder final : public Embedder {
 public:
  HttpEmbedder(HttpEmbedderOptions options, Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        address_(options_.url + "/embeddings"),
        client_(client_options(options_)) {
    set_dimension(options_.dimension);
  }

  // Before the first call of embed().
  void set_dimension(std::uint32_t dimension) {
    info_ = {
        .kind = EmbedderKind::kHttp,
        .dimension = dimension,
        .model_hash = hash64(fmt::format("{}\n{}\n{}", options_.url, options_.model, dimension))};
  }

  const EmbedderInfo& info() const override { return info_; }

  Result<std::vector<std::vector<float>>> embed(
      std::span<const std::string_view> texts) const override {
    std::vector<std::vector<float>> out(texts.size());
    std::vector<std::size_t> batch;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (says_nothing(texts[i])) continue;
      const bool full =
          batch.size() == options_.batch || bytes + texts[i].size() > options_.batch_bytes;
      // A text beyond the limit of bytes goes alone.
      if (full && !batch.empty()) {
        KIN_RETURN_IF_ERROR(embed_batch(texts, batch, out));
        batch.clear();
        bytes = 0;
      }
      batch.push_back(i);
      bytes += texts[i].size();
    }
    if (!batch.empty()) KIN_RETURN_IF_ERROR(embed_batch(texts, batch, out));
    return out;
  }

 private:
  Status embed_batch(std::span<const std::string_view> texts, const std::vector<std::size_t>& batch,
                     std::vector<std::vector<float>>& out) const {
    JsonWriter json;
    json.begin_object().field("model", options_.model).field("encoding_format", "float");
    json.key("input").begin_array();
    for (const std::size_t i : batch) json.value(texts[i]);
    json.end().end();
    auto answer = post(json.take());
    if (!answer) return with_context(address_, answer.error());
    auto vectors = internal::parse_embeddings(*answer, batch.size(), info_.dimension);
    if (!vectors) return with_context(address_, vectors.error());
    for (std::size_t i = 0; i < batch.size(); ++i) out[batch[i]] = std::move((*vectors)[i]);
    return Done{};
  }

  Result<std::string> post(std::string body) const {
    net::HttpRequest request{.url = address_,
                             .body = net::HttpBody{"application/json", std::move(body)}};
    if (!options_.key.empty())
      request.credentials = {.kind = net::Credentials::Kind::kBearer, .secret = options_.key};
    milliseconds pause = options_.first_wait;
    for (int left = options_.tries;; pause *= 2) {
      auto response = client_.send(request).response;
      --left;
      if (response && response->status == 200) return std::move(response->body);
      const bool passing =
          response ? is_passing(response->status) : response.error().code == Code::kUnavailable;
      if (left <= 0 || !passing) return response ? refusal(*response) : response.error();
      clock_.sleep_for(response ? pause_after(*response, pause) : pause);
    }
  }

  const HttpEmbedderOptions options_;
  Clock& clock_;
  const std::string address_;
  mutable net::HttpClient client_;  // thread-safe
  EmbedderInfo info_;
};

}  // namespace

Result<std::shared_ptr<const Embedder>> open_http_embedder(HttpEmbedderOptions options,
                                                           Clock& clock) {
  while (options.url.ends_with('/')) options.url.pop_back();
  if (options.model.empty())
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: the name of the model is missing", options.url)};
  if (options.batch == 0) options.batch = 1;
  if (const auto url = net::Url::parse(options.url); !url) return url.error();
  const bool ask = options.dimension == 0;
  auto embedder = std::make_shared<HttpEmbedder>(std::move(options), clock);
  if (ask) {
    // While the dimension is 0, vectors of any dimension are accepted.
    constexpr std::string_view kProbe[] = {"dimension"};
    KIN_TRY(const auto vectors, embedder->embed(kProbe));
    embedder->set_dimension(static_cast<std::uint32_t>(vectors.front().size()));
  }
  return std::shared_ptr<const Embedder>(std::move(embedder));
}

}  // namespace kin::embed
