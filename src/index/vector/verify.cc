// Compares the contents of a vector index with what is expected.
#include <fmt/format.h>

#include <algorithm>

#include "index/vector/kernels.h"
#include "index/vector/writer.h"

namespace kin::index::internal {
namespace {

// Compares the vectors of one index. One thread only.
class Verifier {
 public:
  Verifier(const VectorCore& core, const VectorsExpected& expected,
           const std::function<void(std::string)>& fault)
      : core_(core), expected_(expected), fault_(fault), given_(core.options.space.dimension) {}

  Status see_posting(const Posting& posting, std::span<const float> centre) {
    for (std::uint32_t slot = 0; slot < posting.size(); ++slot) {
      if (posting.is_dead(slot)) continue;
      KIN_TRY(const bool concerns, read(posting.ids()[slot]));
      if (concerns && !is_of(posting, slot, centre))
        fault_(fmt::format("the code of number {} is not that of its vector", posting.ids()[slot]));
    }
    return Done{};
  }

  Status see_pending(const PendingChunk& chunk, std::uint32_t row) {
    if (chunk.is_dead(row)) return Done{};
    KIN_TRY(const bool concerns, read(chunk.id(row)));
    if (concerns && !std::ranges::equal(chunk.row(row), rotated_))
      fault_(fmt::format("the pending vector of number {} is not the one stored", chunk.id(row)));
    return Done{};
  }

  void finish() {
    std::ranges::sort(seen_);
    for (std::size_t i = 1; i < seen_.size(); ++i)
      if (seen_[i] == seen_[i - 1]) fault_(fmt::format("number {} has two vectors", seen_[i]));
    std::vector<std::uint32_t> missing;
    std::ranges::set_difference(expected_.ids, seen_, std::back_inserter(missing));
    for (const std::uint32_t id : missing)
      fault_(fmt::format("the vector of number {} is missing", id));
  }

 private:
  // The vector of an id that is not ignored and is expected.
  Result<bool> read(std::uint32_t id) {
    // Newer than the view, or retired and kept for older views.
    if (id >= expected_.below || std::ranges::binary_search(expected_.without, id)) return false;
    seen_.push_back(id);
    bool found = std::ranges::binary_search(expected_.ids, id);
    if (found) {
      KIN_TRY(found, expected_.vectors.read(id, given_));
    }
    if (!found) {
      fault_(fmt::format("number {} has a vector and should have none", id));
      return false;
    }
    KIN_TRY(rotated_, core_.rotated(given_));
    return true;
  }

  // Training encodes again from the stored vector. With 16-bit storage that may give another code
  // than the original vector did; both are right.
  bool is_of(const Posting& posting, std::uint32_t slot, std::span<const float> centre) {
    std::vector<float> kept(rotated_.size(), 0.0F);
    if (posting.raw(slot, kept.data()) && !is_kept(kept)) return false;
    core_.encoder.encode(rotated_, centre, code_);
    if (posting.is_coded(slot, code_)) return true;
    if (core_.options.space.storage != RawStorage::kF16) return false;
    core_.encoder.encode(kept, centre, code_);
    return posting.is_coded(slot, code_);
  }

  bool is_kept(const std::vector<float>& kept) const {
    if (core_.options.space.storage == RawStorage::kF32) return kept == rotated_;
    std::vector<std::uint16_t> halves(rotated_.size());
    std::vector<float> rounded(rotated_.size());
    halves_from_floats(rotated_, halves.data());
    floats_from_halves(halves, rounded.data());
    return kept == rounded;
  }

  const VectorCore& core_;
  const VectorsExpected& expected_;
  const std::function<void(std::string)>& fault_;
  std::vector<float> given_;
  std::vector<float> rotated_;
  VectorCode code_;
  std::vector<std::uint32_t> seen_;
};

}  // namespace

Status VectorWriter::verify(const VectorsExpected& expected,
                            const std::function<void(std::string)>& fault) const {
  const auto snapshot = core_.snapshot();
  Verifier verifier(core_, expected, fault);
  for (std::uint32_t p = 0; p < snapshot->postings.size(); ++p) {
    KIN_RETURN_IF_ERROR(
        verifier.see_posting(*snapshot->postings[p], snapshot->centres->matrix().row(p)));
  }
  // each() cannot be stopped, so rows after an error are passed over.
  Status result = Done{};
  snapshot->pending.each([&](const PendingChunk& chunk, std::uint32_t row) {
    if (result.ok()) result = verifier.see_pending(chunk, row);
  });
  KIN_RETURN_IF_ERROR(result);
  verifier.finish();
  return Done{};
}

}  // namespace kin::index::internal
