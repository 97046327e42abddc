// One file of a run of the seen set: sorted ids in pages, with an index of first ids.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "store/seen/block_filter.h"
#include "store/seen/filter_file.h"
#include "store/seen/id.h"
#include "store/seen/page.h"

namespace kin::store {

// The manifest's entry of a piece; the end of the file repeats it.
struct PieceInfo {
  std::uint64_t number = 0;  // names the files
  std::uint64_t ids = 0;
  std::uint64_t pages = 0;
  std::uint64_t digest = 0;  // the sum of digest_of() over its ids
  SeenId first = {};
  SeenId last = {};
  friend bool operator==(const PieceInfo&, const PieceInfo&) = default;
};

// Pointers to the numbers of a PieceInfo, const or not, in the order of every file that has them.
template <typename Info>
auto numbers_of(Info& info) {
  return std::array{&info.number,     &info.ids,       &info.pages,     &info.digest,
                    &info.first.high, &info.first.low, &info.last.high, &info.last.low};
}

std::uint64_t digest_of(SeenId id);

std::filesystem::path piece_path(const std::filesystem::path& folder, std::uint64_t number);
std::filesystem::path filter_path(const std::filesystem::path& folder, std::uint64_t number);

// Binds the filter file to the piece.
FilterIdentity identity_of(const PieceInfo& info);

// The folder and kind of a set's files.
struct SeenPlacement {
  Disk* disk = nullptr;
  std::filesystem::path folder;
  IdKind kind = IdKind::kNumber;
};

// Writes a piece and its filter, ids in ascending order. One thread only.
class PieceWriter {
 public:
  struct Plan {
    std::uint64_t number = 0;
    std::uint64_t ids = 0;  // upper bound of the ids to add
    double filter_bits = 9;
  };
  struct Finished {
    PieceInfo info;
    std::shared_ptr<const BlockFilter> filter;
  };

  static Result<std::unique_ptr<PieceWriter>> create(const SeenPlacement& placement,
                                                     const Plan& plan);
  // In ascending order, and above what was added before.
  Status add(std::span<const SeenId> ids);
  std::uint64_t ids() const { return info_.ids; }
  // Both files are on the device when it returns; their names are not durable yet.
  Result<Finished> finish();

 private:
  PieceWriter(const SeenPlacement& placement, const Plan& plan, std::unique_ptr<DiskFile> file);
  Status finish_page();
  Status write_out();

  SeenPlacement placement_;
  PieceInfo info_;
  std::unique_ptr<DiskFile> file_;
  std::shared_ptr<BlockFilter> filter_;
  SeenPageBuilder page_;
  std::vector<std::uint64_t> firsts_;  // the high word of the first id of each page
  std::string buffer_;
  std::uint64_t unsynced_ = 0;
};

// A finished piece, open to read. Thread-safe.
class Piece {
 public:
  // kDataLoss if the file does not match `info`.
  static Result<std::shared_ptr<const Piece>> open(const SeenPlacement& placement,
                                                   const PieceInfo& info);

  const PieceInfo& info() const { return info_; }
  std::uint64_t index_bytes() const { return index_.size() * sizeof(std::uint32_t); }
  std::uint64_t file_bytes() const { return file_bytes_; }

  // Reads one page, in one of a hundred thousand cases two. `scratch` is the caller's.
  Result<bool> contains(SeenId id, SeenPageBytes& scratch) const;

  // For pairs: appends the numbers of the key `from.high` from `from.low` on, ascending.
  Status append_numbers(SeenId from, SeenPageBytes& scratch,
                        std::vector<std::uint32_t>& numbers) const;

  // The last page that may begin at or below `id`. The index is rough: the page may begin above
  // `id`, and then `id` can only be in a page before it.
  std::uint64_t page_of(SeenId id) const;
  // A page such that all ids from `id` on lie in it or after it.
  std::uint64_t page_before(SeenId id) const;
  // Appends the ids of `count` pages from `page` on, as far as there are any, with one read.
  Status read_ids(std::uint64_t page, std::uint64_t count, std::vector<SeenId>& out) const;

  // The filter from its file; kDataLoss if it is damaged, kNotFound if it is missing.
  Result<FilterFile> open_filter() const;
  // Rebuilds the filter from the ids.
  Result<std::shared_ptr<const BlockFilter>> rebuild_filter(double bits_per_id) const;

  // Reads everything and checks checksums, order, count, digest, and that `filter` passes every id.
  // A missing filter is an error.
  Status verify(const FilterFile* filter) const;

 private:
  Piece(SeenPlacement placement, const PieceInfo& info, std::unique_ptr<DiskFile> file);
  Status load_index();
  // The number of pages that begin below `step`.
  std::uint64_t pages_below(std::uint64_t step) const;
  Result<SeenPage> read_page(std::uint64_t page, SeenPageBytes& into) const;
  Status for_each(const std::function<Status(SeenId)>& visit) const;
  Error damage(std::string_view what) const;

  SeenPlacement placement_;
  PieceInfo info_;
  std::unique_ptr<DiskFile> file_;
  std::uint64_t file_bytes_ = 0;
  std::vector<std::uint32_t> index_;  // where each page begins, in 2^32 steps over the piece
};

}  // namespace kin::store
