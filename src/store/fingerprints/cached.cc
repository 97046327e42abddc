#include "store/cached_fingerprints.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "base/bytes.h"
#include "base/hash.h"
#include "store/fingerprints/format.h"
#include "store/fingerprints/s3_rows.h"

namespace kin::store {
namespace {

constexpr std::size_t kCommandsAtOnce = 500;
constexpr std::size_t kMostValueBytes = 1 << 20;  // longer documents are not cached
constexpr std::size_t kMostSeen = 100'000;
constexpr std::chrono::minutes kSeenFor{1};

using Values = std::vector<std::optional<Fingerprint>>;

std::string cache_key(const DocId& doc, const Hash128& row) {
  std::string key = "kindred:1:";
  key += doc.view();
  append_le(key, row);
  return key;
}

// Parses the document, if the bytes belong to it.
std::optional<Fingerprint> parse_cached(std::string_view bytes, const DocId& doc,
                                        const Hash128& row) {
  const auto body = checked_body(bytes);
  if (!body) return std::nullopt;
  auto document = parse_document(*body);
  if (!document || document->doc != doc || row_version(*document) != row) return std::nullopt;
  return std::move(*document);
}

}  // namespace

struct CachedFingerprints::State {
  struct Seen {
    Hash128 row;
    SteadyTime at;
  };

  State(std::unique_ptr<FingerprintStore> given, const CacheOptions& chosen)
      : store(std::move(given)), options(chosen), client(chosen.redis) {}

  bool expired(const Fingerprint& fingerprint) const {
    return options.retention && fingerprint.created + *options.retention <= options.clock->now();
  }
  // The replies; nothing if the cache does not answer.
  std::optional<std::vector<cloud::RespValue>> call(std::span<const cloud::RespCommand> commands);
  void fill(std::span<const Fingerprint* const> documents);
  // The cached values of the rows that find() saw last.
  Values read(std::span<const DocId> ids);
  std::optional<Hash128> seen_row(const DocId& id);

  const std::unique_ptr<FingerprintStore> store;
  const CacheOptions options;
  cloud::RespClient client;
  std::mutex mutex;  // guards the following
  std::unordered_map<DocId, Seen> seen;
  std::optional<SteadyTime> paused_until;
  std::atomic<std::uint64_t> hits = 0;
  std::atomic<std::uint64_t> misses = 0;
  std::atomic<std::uint64_t> failures = 0;
};

std::optional<std::vector<cloud::RespValue>> CachedFingerprints::State::call(
    std::span<const cloud::RespCommand> commands) {
  {
    const std::scoped_lock lock(mutex);
    if (paused_until && options.clock->steady_now() < *paused_until) return std::nullopt;
    paused_until.reset();
  }
  std::vector<cloud::RespValue> replies;
  for (std::size_t at = 0; at < commands.size(); at += kCommandsAtOnce) {
    const std::size_t count = std::min(kCommandsAtOnce, commands.size() - at);
    auto some = client.call(commands.subspan(at, count));
    if (!some) {
      // The store has everything, so the error is counted and not passed on.
      ++failures;
      const std::scoped_lock lock(mutex);
      paused_until = options.clock->steady_now() + options.pause;
      return std::nullopt;
    }
    std::ranges::move(*some, std::back_inserter(replies));
  }
  return replies;
}

void CachedFingerprints::State::fill(std::span<const Fingerprint* const> documents) {
  std::vector<cloud::RespCommand> commands;
  for (const Fingerprint* document : documents) {
    std::string value = document_value(*document);
    if (value.size() > kMostValueBytes) continue;
    append_le(value, checksum(value));
    commands.push_back({"SET", cache_key(document->doc, row_version(*document)), std::move(value),
                        "EX", std::to_string(options.keep.count())});
  }
  const auto replies = call(commands);
  if (!replies) return;
  for (const cloud::RespValue& reply : *replies) {
    if (reply.kind == cloud::RespValue::Kind::kError) ++failures;  // full, or not a cache
  }
}

std::optional<Hash128> CachedFingerprints::State::seen_row(const DocId& id) {
  const std::scoped_lock lock(mutex);
  const auto found = seen.find(id);
  if (found == seen.end() || found->second.at + kSeenFor < options.clock->steady_now())
    return std::nullopt;
  return found->second.row;
}

Values CachedFingerprints::State::read(std::span<const DocId> ids) {
  std::vector<cloud::RespCommand> commands;
  std::vector<std::pair<std::size_t, Hash128>> asked;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto row = seen_row(ids[i]);
    if (!row) continue;
    commands.push_back({"GET", cache_key(ids[i], *row)});
    asked.emplace_back(i, *row);
  }
  Values values(ids.size());
  if (commands.empty()) return values;
  const auto replies = call(commands);
  if (!replies) return values;
  for (std::size_t n = 0; n < asked.size(); ++n) {
    const cloud::RespValue& reply = (*replies)[n];
    if (reply.kind == cloud::RespValue::Kind::kNothing) continue;
    const auto& [i, row] = asked[n];
    values[i] = parse_cached(reply.text, ids[i], row);
    if (!values[i]) ++failures;
  }
  return values;
}

CachedFingerprints::CachedFingerprints(std::unique_ptr<FingerprintStore> store,
                                       const CacheOptions& options)
    : state_(std::make_unique<State>(std::move(store), options)) {}

CachedFingerprints::~CachedFingerprints() = default;

const FingerprintParameters& CachedFingerprints::parameters() const {
  return state_->store->parameters();
}

Result<Found> CachedFingerprints::find(std::span<const Fingerprint> batch) {
  KIN_TRY(Found found, state_->store->find(batch));
  const SteadyTime now = state_->options.clock->steady_now();
  const std::scoped_lock lock(state_->mutex);
  if (state_->seen.size() > kMostSeen) state_->seen.clear();
  for (const auto& [doc, row] : found.rows)
    state_->seen.insert_or_assign(doc, State::Seen{row, now});
  return found;
}

Result<Values> CachedFingerprints::get(std::span<const DocId> ids) {
  Values values = state_->read(ids);
  std::vector<DocId> missing;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (values[i]) continue;
    missing.push_back(ids[i]);
    places.push_back(i);
  }
  state_->hits += ids.size() - missing.size();
  state_->misses += missing.size();
  if (!missing.empty()) {
    KIN_TRY(Values rest, state_->store->get(missing));
    std::vector<const Fingerprint*> read;
    for (const auto& document : rest) {
      if (document) read.push_back(&*document);
    }
    state_->fill(read);
    for (std::size_t n = 0; n < places.size(); ++n) values[places[n]] = std::move(rest[n]);
  }
  for (auto& value : values) {
    if (value && state_->expired(*value)) value.reset();
  }
  return values;
}

Result<std::vector<Admission>> CachedFingerprints::admit(std::span<const Fingerprint> batch,
                                                         const Found& found,
                                                         std::span<const std::size_t> chosen,
                                                         const Judge& judge) {
  KIN_TRY(auto admissions, state_->store->admit(batch, found, chosen, judge));
  // Other workers will probably ask for these soon. They are in the store by now.
  std::vector<const Fingerprint*> admitted;
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    if (!admissions[n].lost_to) admitted.push_back(&batch[chosen[n]]);
  }
  {
    const std::scoped_lock lock(state_->mutex);
    for (const Fingerprint* document : admitted) state_->seen.erase(document->doc);
  }
  state_->fill(admitted);
  return admissions;
}

Status CachedFingerprints::each(const Visit& visit) {
  return state_->store->each(visit);
}

Result<FingerprintStats> CachedFingerprints::stats() {
  return state_->store->stats();
}

Result<std::vector<std::string>> CachedFingerprints::check() {
  return state_->store->check();
}

CacheCounts CachedFingerprints::counts() const {
  return {.hits = state_->hits, .misses = state_->misses, .failures = state_->failures};
}

}  // namespace kin::store
