#include "store/seen/lookup.h"

#include <algorithm>
#include <utility>

namespace kin::store {
namespace {

// Enough ids for prefetches to arrive, few enough for them to be still cached.
constexpr std::size_t kChunk = 512;

// The piece that holds `id`, if the run does. The piece cannot be predicted, so the
// search uses selections instead of branches: a mispredicted branch costs more than the
// search.
const PieceView* piece_for(const RunView& run, SeenId id) {
  if (run.starts.empty() || id < run.from || id < run.starts.front()) return nullptr;
  const SeenId* start = run.starts.data();
  // Comparing the leading halves alone keeps each step a single conditional move.
  for (std::size_t left = run.starts.size(); left > 1;) {
    const std::size_t half = left / 2;
    start = start[half].high <= id.high ? start + half : start;
    left -= half;
  }
  // Starts that share their leading half with `id` are compared by the rest.
  while (id < *start) --start;
  return &run.pieces[static_cast<std::size_t>(start - run.starts.data())];
}

const BlockFilter::Block& block_for(const PieceView& piece, SeenId id) {
  return piece.blocks[BlockFilter::block_of(id, piece.blocks.size())];
}

void prefetch_filter(const PieceView& piece, SeenId id) {
  if (!piece.blocks.empty()) __builtin_prefetch(&block_for(piece, id));
}

}  // namespace

SeenLookupCounts& SeenLookupCounts::operator+=(const SeenLookupCounts& other) {
  filter_probes += other.filter_probes;
  filter_passes += other.filter_passes;
  page_reads += other.page_reads;
  hits += other.hits;
  filter_page_reads += other.filter_page_reads;
  return *this;
}

SeenLookupCounts SeenLookup::take_counts() {
  return std::exchange(counts_, {});
}

bool SeenLookup::passes_filter(const PieceView& piece, SeenId id) {
  ++counts_.filter_probes;
  if (piece.blocks.empty() && piece.filter_file != nullptr) ++counts_.filter_page_reads;
  const bool passes = piece.may_contain(id);
  counts_.filter_passes += passes ? 1 : 0;
  return passes;
}

Result<bool> SeenLookup::read(const PieceView& piece, SeenId id) {
  ++counts_.page_reads;
  KIN_TRY(const bool found, piece.piece->contains(id, page_));
  counts_.hits += found ? 1 : 0;
  return found;
}

Result<bool> SeenLookup::contains(const SeenVersion& version, SeenId id) {
  // Prefetches all memory that may be needed before using it.
  version.table->prefetch(id);
  if (version.frozen != nullptr) version.frozen->prefetch(id);
  asked_.clear();
  for (const RunView& run : version.runs) {
    const PieceView* piece = piece_for(run, id);
    if (piece == nullptr) continue;
    prefetch_filter(*piece, id);
    asked_.push_back({0, piece});
  }
  // The tables are in memory and need no read, so they come first.
  if (version.table->contains(id)) return true;
  if (version.frozen != nullptr && version.frozen->contains(id)) return true;
  for (const Asked& asked : asked_) {
    if (!passes_filter(*asked.piece, id)) continue;
    KIN_TRY(const bool found, read(*asked.piece, id));
    if (found) return true;
  }
  return false;
}

Status SeenLookup::contains(const SeenVersion& version, std::span<const SeenId> ids,
                            std::span<std::uint8_t> found) {
  for (std::size_t at = 0; at < ids.size(); at += kChunk) {
    const std::size_t count = std::min(kChunk, ids.size() - at);
    KIN_RETURN_IF_ERROR(chunk(version, ids.subspan(at, count), found.subspan(at, count)));
  }
  return Done{};
}

Status SeenLookup::chunk(const SeenVersion& version, std::span<const SeenId> ids,
                         std::span<std::uint8_t> found) {
  // Three passes over the chunk: tables, then per run the filters, then the pages of what passed.
  // In each, the misses of many ids overlap.
  for (const SeenId& id : ids) version.table->prefetch(id);
  pending_.clear();
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    found[i] = version.table->contains(ids[i]) ? 1 : 0;
    if (found[i] == 0) pending_.push_back(i);
  }
  if (version.frozen != nullptr) {
    for (const std::uint32_t i : pending_) version.frozen->prefetch(ids[i]);
    std::erase_if(pending_, [&](std::uint32_t i) {
      found[i] = version.frozen->contains(ids[i]) ? 1 : 0;
      return found[i] != 0;
    });
  }
  for (const RunView& run : version.runs) KIN_RETURN_IF_ERROR(ask_run(run, ids, found));
  return Done{};
}

Status SeenLookup::ask_run(const RunView& run, std::span<const SeenId> ids,
                           std::span<std::uint8_t> found) {
  asked_.clear();
  for (const std::uint32_t i : pending_) {
    const PieceView* piece = piece_for(run, ids[i]);
    if (piece == nullptr) continue;
    prefetch_filter(*piece, ids[i]);
    asked_.push_back({i, piece});
  }
  std::erase_if(asked_,
                [&](const Asked& asked) { return !passes_filter(*asked.piece, ids[asked.i]); });
  bool any = false;
  for (const Asked& asked : asked_) {
    KIN_TRY(const bool there, read(*asked.piece, ids[asked.i]));
    found[asked.i] = there ? 1 : 0;
    any = any || there;
  }
  // An id is in one run at most, so later runs need not be asked for it.
  if (any) std::erase_if(pending_, [&](std::uint32_t i) { return found[i] != 0; });
  return Done{};
}

}  // namespace kin::store
