#include "store/fingerprints/key_index.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "store/seen/recovery.h"
#include "store/signatures/store_file.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

// Keys that are looked up together: enough that prefetches have arrived, few enough that they are
// still there.
constexpr std::size_t kTogether = 256;
// A key in memory: an entry, its share of chains, and a pair while a run is written.
constexpr std::uint64_t kKeyBytes = 16 + 8 + sizeof(SeenId);
constexpr std::size_t kFewestKeys = 16;

Result<SeenManifest> manifest_in(const fs::path& folder, Disk& disk) {
  SeenManifest manifest;
  manifest.kind = kPairs;
  manifest.first_log = manifest.durable_log = 0;
  KIN_TRY(const bool there, disk.exists(folder / kManifestName));
  if (!there) return manifest;
  KIN_TRY(const std::string bytes, read_whole(disk, folder / kManifestName));
  KIN_TRY(manifest, decode_seen_manifest(bytes));
  if (manifest.kind != kPairs) return Error{Code::kDataLoss, "it belongs to a seen set"};
  return manifest;
}

// The files can be made again, so that is what an error should say.
Error remedy(const fs::path& folder, const Error& error) {
  if (error.code != Code::kDataLoss) return error;
  return {error.code,
          error.message + " (remove " + folder.string() + "; it is made again from the documents)"};
}

}  // namespace

KeyIndex::KeyIndex(const KeyIndexOptions& options, std::unique_ptr<SeenRuns> runs)
    : capacity_(std::max<std::size_t>(kFewestKeys, options.memory_bytes / 4 / kKeyBytes)),
      runs_(std::move(runs)) {
  const std::size_t chains = std::bit_ceil(capacity_);
  shift_ = 64 - std::countr_zero(chains);
  chains_.resize(chains);
}

Result<std::unique_ptr<KeyIndex>> KeyIndex::open(const KeyIndexOptions& options) {
  const auto opened = [&]() -> Result<std::unique_ptr<SeenRuns>> {
    KIN_RETURN_IF_ERROR(options.disk->make_folder(options.folder));
    KIN_TRY(SeenManifest manifest, manifest_in(options.folder, *options.disk));
    const SeenPlacement placement{options.disk, options.folder, kPairs};
    // The manifest that we see must stay before files go that only an older one names.
    KIN_RETURN_IF_ERROR(options.disk->sync_folder(options.folder));
    KIN_RETURN_IF_ERROR(remove_leftovers(placement, manifest));
    SeenRunsOptions how;
    how.filter_memory = options.memory_bytes / 4 * 3;
    return SeenRuns::open(placement, how, std::move(manifest));
  };
  auto runs = opened();
  if (!runs) return remedy(options.folder, runs.error());
  return std::unique_ptr<KeyIndex>(new KeyIndex(options, std::move(*runs)));
}

std::uint32_t KeyIndex::covered() const {
  const std::shared_lock lock(mutex_);
  return static_cast<std::uint32_t>(runs_->manifest().first_log);
}

void KeyIndex::add(std::span<const Pair> pairs) {
  const std::unique_lock lock(mutex_);
  for (const auto& [key, number] : pairs) {
    std::uint32_t& chain = chains_[chain_of(key)];
    entries_.push_back({key, number, chain});
    chain = static_cast<std::uint32_t>(entries_.size());
  }
}

Status KeyIndex::settle(std::uint32_t next) {
  const std::unique_lock lock(mutex_);
  if (failure_) return writes_refused(*failure_);
  const auto work = [&]() -> Status {
    if (entries_.size() >= capacity_) KIN_RETURN_IF_ERROR(write_run(next));
    if (!runs_->merge_due(MergeRule::kKeepFew)) return Done{};
    const std::uint64_t covered = runs_->manifest().first_log;
    return runs_->merge_step({.first = covered, .durable = covered}, MergeRule::kKeepFew);
  };
  Status done = work();
  if (!done) failure_ = done.error();
  return done;
}

Status KeyIndex::write_run(std::uint32_t next) {
  std::vector<SeenId> pairs;
  pairs.reserve(entries_.size());
  for (const Entry& entry : entries_) pairs.push_back({entry.key, entry.number});
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  KIN_RETURN_IF_ERROR(runs_->add_run(pairs, {.first = next, .durable = next}));
  entries_.clear();
  std::fill(chains_.begin(), chains_.end(), 0);
  return Done{};
}

void KeyIndex::find_in_table(std::span<const std::uint64_t> keys, std::size_t first,
                             std::vector<Match>& matches) const {
  if (entries_.empty()) return;
  for (const std::uint64_t key : keys) __builtin_prefetch(&chains_[chain_of(key)]);
  for (const std::uint64_t key : keys) {
    if (const std::uint32_t at = chains_[chain_of(key)]) __builtin_prefetch(&entries_[at - 1]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::uint32_t at = chains_[chain_of(keys[i])]; at != 0; at = entries_[at - 1].next) {
      const Entry& entry = entries_[at - 1];
      if (entry.key == keys[i])
        matches.push_back({static_cast<std::uint32_t>(first + i), entry.number});
    }
  }
}

Status KeyIndex::find_in_run(const RunView& run, std::span<const std::uint64_t> keys,
                             std::size_t first, std::vector<Match>& matches) const {
  struct Asked {
    std::size_t key;
    SeenId from;  // pairs below have moved to another run
    const PieceView* piece;
  };
  std::vector<Asked> asked;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const SeenId from = std::max(SeenId{keys[i], 0}, run.from);
    if (from.high != keys[i]) continue;
    // The last piece that begins at or below it, and those in which its pairs go on.
    const auto above = std::upper_bound(run.starts.begin(), run.starts.end(), from);
    auto piece = static_cast<std::size_t>(above - run.starts.begin());
    if (piece > 0) --piece;
    for (; piece < run.starts.size() && run.starts[piece].high <= keys[i]; ++piece) {
      const PieceView& view = run.pieces[piece];
      if (!view.blocks.empty())
        __builtin_prefetch(
            &view.blocks[BlockFilter::block_of(SeenId{keys[i], 0}, view.blocks.size())]);
      asked.push_back({i, from, &view});
    }
  }
  SeenPageBytes page;
  std::vector<std::uint32_t> numbers;
  for (const Asked& one : asked) {
    if (!one.piece->may_contain(SeenId{keys[one.key], 0})) continue;
    numbers.clear();
    KIN_RETURN_IF_ERROR(one.piece->piece->append_numbers(one.from, page, numbers));
    for (const std::uint32_t number : numbers)
      matches.push_back({static_cast<std::uint32_t>(first + one.key), number});
  }
  return Done{};
}

Result<std::vector<KeyIndex::Match>> KeyIndex::find(std::span<const std::uint64_t> keys) const {
  const std::shared_lock lock(mutex_);
  std::vector<Match> matches;
  for (std::size_t at = 0; at < keys.size(); at += kTogether) {
    const auto some = keys.subspan(at, std::min(kTogether, keys.size() - at));
    const std::size_t before = matches.size();
    find_in_table(some, at, matches);
    for (const RunView& run : runs_->views())
      KIN_RETURN_IF_ERROR(find_in_run(run, some, at, matches));
    const auto begin = matches.begin() + static_cast<std::ptrdiff_t>(before);
    std::sort(begin, matches.end());
    matches.erase(std::unique(begin, matches.end()), matches.end());
  }
  return matches;
}

Status KeyIndex::verify() const {
  const std::unique_lock lock(mutex_);
  return runs_->verify();
}

std::uint64_t KeyIndex::bytes() const {
  const std::shared_lock lock(mutex_);
  const SeenRunsBytes bytes = runs_->bytes();
  return bytes.run_files + bytes.filter_files;
}

}  // namespace kin::store
