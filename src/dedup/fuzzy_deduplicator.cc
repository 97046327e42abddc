#include "dedup/fuzzy_deduplicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sketch/jaccard.h"
#include "sketch/word_hash.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kParametersFileName = "parameters";
// An estimate this many standard deviations below the threshold is not compared exactly: one true
// duplicate in 30,000 is there.
constexpr double kDeviations = 4;

std::string parameters_of(const FuzzyDedupConfig& config, sketch::Banding banding) {
  return fmt::format(
      "kindred fuzzy deduplicator 2\nshingle {} version {}\nnormalize {} Unicode {}\nhashes {} "
      "version {}\nbands {} version {}\ntexts {}\n",
      sketch::to_string(config.shingles), sketch::kShingleVersion,
      text::name_of(config.shingles.normalization), text::unicode_version(), config.hashes,
      sketch::kMinHashVersion, sketch::to_string(banding), sketch::kBandKeyVersion,
      config.verify_exact ? "kept" : "not kept");
}

std::string from_latin1(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out.push_back(c);
    } else {
      out.push_back(static_cast<char>(0xc0 | (byte >> 6)));
      out.push_back(static_cast<char>(0x80 | (byte & 0x3f)));
    }
  }
  return out;
}

void most_alike_first(std::vector<Match>& matches) {
  std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.id < b.id;
  });
}

Result<sketch::Banding> banding_for(const FuzzyDedupConfig& config) {
  if (!(config.threshold > 0 && config.threshold <= 1)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("the threshold must lie in (0, 1], not {}", config.threshold)};
  }
  if (config.hashes == 0 || config.hashes > sketch::kMaxHashes) {
    return Error{Code::kInvalidArgument,
                 fmt::format("1 to {} hashes, not {}", sketch::kMaxHashes, config.hashes)};
  }
  if (config.shingles.size == 0 || config.shingles.size > sketch::kMaxShingle) {
    return Error{Code::kInvalidArgument, fmt::format("a shingle has 1 to {} units, not {}",
                                                     sketch::kMaxShingle, config.shingles.size)};
  }
  if (config.max_candidates == 0)
    return Error{Code::kInvalidArgument, "max_candidates must be at least 1"};
  if (!config.banding) return sketch::choose_banding(config.hashes, config.threshold);
  const std::uint64_t slots = std::uint64_t{config.banding->bands} * config.banding->rows;
  if (slots == 0 || slots > config.hashes) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} bands do not fit {} hashes", sketch::to_string(*config.banding),
                             config.hashes)};
  }
  return *config.banding;
}

}  // namespace

FuzzyDeduplicator::FuzzyDeduplicator(const FuzzyDedupConfig& config, sketch::Banding banding)
    : config_(config),
      banding_(banding),
      hasher_(config.hashes),
      index_({.max_candidates = config.max_candidates}) {}

FuzzyDeduplicator::~FuzzyDeduplicator() = default;

Result<std::unique_ptr<FuzzyDeduplicator>> FuzzyDeduplicator::create(
    const FuzzyDedupConfig& config) {
  KIN_TRY(const sketch::Banding banding, banding_for(config));
  std::unique_ptr<FuzzyDeduplicator> deduplicator(new FuzzyDeduplicator(config, banding));
  KIN_RETURN_IF_ERROR(deduplicator->check_parameters());
  KIN_RETURN_IF_ERROR(deduplicator->open_stores());
  KIN_RETURN_IF_ERROR(deduplicator->rebuild_index());
  return deduplicator;
}

// Signatures made with other parameters cannot be compared.
Status FuzzyDeduplicator::check_parameters() const {
  if (!config_.signature_store_path) return Done{};
  const fs::path path = *config_.signature_store_path / kParametersFileName;
  const std::string ours = parameters_of(config_, banding_);
  KIN_RETURN_IF_ERROR(config_.disk->make_folder(*config_.signature_store_path));
  KIN_TRY(const bool is_old, config_.disk->exists(path));
  if (!is_old) return replace_whole(*config_.disk, path, ours);
  KIN_TRY(const std::string theirs, read_whole(*config_.disk, path));
  if (theirs == ours) return Done{};
  return Error{
      Code::kFailedPrecondition,
      fmt::format(
          "{} was made with other parameters:\n{}than these:\n{}(use the same, or another path)",
          config_.signature_store_path->string(), theirs, ours)};
}

// A kept record stores its band keys after the signature, so that the index can be rebuilt.
std::size_t FuzzyDeduplicator::record_bytes() const {
  return config_.hashes + (keeps_band_keys() ? banding_.bands * sizeof(std::uint64_t) : 0);
}

Status FuzzyDeduplicator::open_stores() {
  KIN_TRY(signatures_, store::TieredSignatureStore::open({
                           .signature_bytes = static_cast<std::uint32_t>(record_bytes()),
                           .max_hot_signatures = config_.max_hot_signatures,
                           .path = config_.signature_store_path,
                           .temporary_parent = config_.temporary_parent,
                           .disk = config_.disk,
                       }));
  if (!config_.verify_exact) return Done{};
  KIN_TRY(texts_, store::KeptValues::open({
                      .path = config_.signature_store_path,
                      .temporary_parent = config_.temporary_parent,
                      .disk = config_.disk,
                  }));
  return Done{};
}

Status FuzzyDeduplicator::rebuild_index() {
  constexpr std::size_t kBatch = 65'536;
  const std::size_t width = record_bytes();
  std::vector<std::uint8_t> records;
  std::vector<std::uint8_t> found;
  std::vector<std::uint64_t> keys(banding_.bands);
  for (RecordId next{0};;) {
    const auto ids = signatures_->ids_from(next, kBatch);
    if (ids.empty()) return Done{};
    records.resize(ids.size() * width);
    found.resize(ids.size());
    KIN_RETURN_IF_ERROR(signatures_->get_batch(ids, records, found));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (found[i] == 0) continue;  // counted by the store
      std::memcpy(keys.data(), records.data() + i * width + config_.hashes,
                  keys.size() * sizeof keys[0]);
      index_.insert(ids[i], keys);
    }
    next = RecordId(static_cast<std::uint32_t>(ids.back()) + 1);
  }
}

std::unique_ptr<sketch::Shingler> FuzzyDeduplicator::borrow_shingler() const {
  const std::lock_guard lock(shinglers_mutex_);
  if (shinglers_.empty()) return std::make_unique<sketch::Shingler>(config_.shingles);
  auto shingler = std::move(shinglers_.back());
  shinglers_.pop_back();
  return shingler;
}

void FuzzyDeduplicator::give_back(std::unique_ptr<sketch::Shingler> shingler) const {
  const std::lock_guard lock(shinglers_mutex_);
  shinglers_.push_back(std::move(shingler));
}

PreparedSignature FuzzyDeduplicator::prepare_signature(std::string_view text) const {
  const std::string converted = text::is_valid_utf8(text) ? std::string() : from_latin1(text);
  auto shingler = borrow_shingler();
  const auto shingles = shingler->shingles(converted.empty() ? text : converted);
  PreparedSignature prepared;
  if (!shingles.empty()) {
    std::vector<std::uint32_t> signature(config_.hashes);
    hasher_.sign(shingles, signature);
    prepared.signature.resize(config_.hashes);
    sketch::compact(signature, prepared.signature);
    prepared.band_keys.resize(banding_.bands);
    sketch::band_keys(signature, banding_, prepared.band_keys);
    if (config_.verify_exact) prepared.text = converted.empty() ? std::string(text) : converted;
  }
  give_back(std::move(shingler));
  return prepared;
}

Verdict FuzzyDeduplicator::process_record(RecordId id, std::string_view text) {
  return process_prepared(id, prepare_signature(text));
}

Verdict FuzzyDeduplicator::process_prepared(RecordId id, PreparedSignature prepared) {
  const std::unique_lock lock(mutex_);
  ++counters_.records;
  if (prepared.band_keys.empty()) return {};
  const std::vector<Match> matches = settle(prepared, 1);
  if (matches.empty()) {
    remember(id, prepared);
    return {};
  }
  ++counters_.duplicates;
  return {.duplicate = true, .of = matches.front().id, .similarity = matches.front().similarity};
}

std::vector<Match> FuzzyDeduplicator::find_duplicates(std::string_view text) const {
  const PreparedSignature prepared = prepare_signature(text);
  if (prepared.band_keys.empty()) return {};
  const std::shared_lock lock(mutex_);
  std::vector<Match> matches = settle(prepared, SIZE_MAX);
  most_alike_first(matches);
  return matches;
}

std::vector<Match> FuzzyDeduplicator::estimates(const PreparedSignature& prepared,
                                                std::span<const RecordId> ids) const {
  const std::size_t width = record_bytes();
  std::vector<std::uint8_t> records(ids.size() * width);
  std::vector<std::uint8_t> found(ids.size());
  const auto got = signatures_->get_batch(ids, records, found);
  KIN_CHECK(got.ok(), "a query returns ascending ids");
  std::vector<Match> matches;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (found[i] == 0) continue;
    const auto theirs = std::span(records).subspan(i * width, config_.hashes);
    const std::uint32_t equal = sketch::equal_slots(prepared.signature, theirs);
    matches.push_back({ids[i], sketch::estimate_jaccard(equal, config_.hashes)});
  }
  return matches;
}

std::vector<Match> FuzzyDeduplicator::likely(const PreparedSignature& prepared) const {
  const std::vector<RecordId> ids = index_.query(prepared.band_keys);
  counters_.candidates += ids.size();
  std::vector<Match> matches = estimates(prepared, ids);
  const double margin =
      texts_ ? kDeviations * sketch::estimate_deviation(config_.threshold, config_.hashes) : 0.0;
  counters_.false_candidates += std::erase_if(
      matches, [&](const Match& match) { return match.similarity < config_.threshold - margin; });
  most_alike_first(matches);
  return matches;
}

std::vector<std::uint64_t> FuzzyDeduplicator::shingle_set(std::string_view text) const {
  auto shingler = borrow_shingler();
  const auto shingles = shingler->shingles(text);
  std::vector<std::uint64_t> set(shingles.begin(), shingles.end());
  give_back(std::move(shingler));
  sketch::sort_unique(set);
  return set;
}

std::vector<Match> FuzzyDeduplicator::settle(const PreparedSignature& prepared,
                                             std::size_t most) const {
  const std::vector<Match> candidates = likely(prepared);
  std::vector<std::uint64_t> ours;
  if (texts_ && !candidates.empty()) ours = shingle_set(prepared.text);
  std::vector<Match> matches;
  for (const Match& candidate : candidates) {
    Match match = candidate;
    if (texts_) {
      const auto text = texts_->get(candidate.id);
      if (!text.ok() || !text->has_value()) continue;  // counted by the store
      match.similarity = sketch::exact_jaccard(ours, shingle_set(**text));
    }
    if (match.similarity < config_.threshold) {
      ++counters_.false_candidates;
      continue;
    }
    ++counters_.verified;
    matches.push_back(match);
    if (matches.size() == most) break;
  }
  return matches;
}

void FuzzyDeduplicator::remember(RecordId id, const PreparedSignature& prepared) {
  if (index_.contains(id)) return;
  if (auto kept = keep(id, prepared); !kept.ok()) {
    ++counters_.write_errors;
    const std::lock_guard lock(failure_mutex_);
    if (!write_failure_) write_failure_ = kept.error();
    return;
  }
  index_.insert(id, prepared.band_keys);
}

Status FuzzyDeduplicator::keep(RecordId id, const PreparedSignature& prepared) {
  if (texts_) KIN_RETURN_IF_ERROR(texts_->append(id, prepared.text));
  std::vector<std::uint8_t> record = prepared.signature;
  record.resize(record_bytes());
  if (keeps_band_keys()) {
    std::memcpy(record.data() + config_.hashes, prepared.band_keys.data(),
                record.size() - config_.hashes);
  }
  return signatures_->insert(id, record);
}

std::uint64_t FuzzyDeduplicator::len() const {
  const std::shared_lock lock(mutex_);
  return index_.len();
}

Result<std::optional<std::string>> FuzzyDeduplicator::text_of(RecordId id) const {
  if (!texts_) return std::optional<std::string>();
  return texts_->get(id);
}

// Texts first, so that every durable signature has its text.
Status FuzzyDeduplicator::flush() {
  const std::unique_lock lock(mutex_);
  if (texts_) KIN_RETURN_IF_ERROR(texts_->flush());
  return signatures_->flush();
}

FuzzyDedupStats FuzzyDeduplicator::stats() const {
  const std::shared_lock lock(mutex_);
  FuzzyDedupStats stats{
      .records = counters_.records,
      .duplicates = counters_.duplicates,
      .candidates = counters_.candidates,
      .verified = counters_.verified,
      .false_candidates = counters_.false_candidates,
      .capped_queries = index_.capped_queries(),
      .write_errors = counters_.write_errors,
      .memory_bytes = index_.bytes(),
      .signatures = signatures_->stats(),
  };
  stats.memory_bytes += stats.signatures.memory_bytes;
  stats.cold_read_errors = stats.signatures.cold_read_errors;
  if (texts_) {
    const store::KeptValuesStats texts = texts_->stats();
    stats.memory_bytes += texts.memory_bytes;
    stats.cold_read_errors += texts.read_errors;
  }
  return stats;
}

Status FuzzyDeduplicator::health() const {
  {
    const std::lock_guard lock(failure_mutex_);
    if (write_failure_) return with_context("a record could not be kept", *write_failure_);
  }
  const std::uint64_t errors = stats().cold_read_errors;
  if (errors <= config_.cold_read_error_limit) return Done{};
  return Error{
      Code::kDataLoss,
      fmt::format(
          "{} signatures or texts on disk could not be read, and the limit is {}: duplicates of "
          "them were missed (check the disk, and run again)",
          errors, config_.cold_read_error_limit)};
}

}  // namespace kin::dedup
