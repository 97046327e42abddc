#include "index/vector_index.h"

#include <mutex>
#include <utility>

#include "base/hash.h"
#include "index/vector/core.h"
#include "index/vector/format.h"
#include "index/vector/writer.h"

namespace kin::index {

using internal::Draft;
using internal::VectorCheckpointHead;
using internal::VectorCore;
using internal::VectorWriter;

class VectorIndex::State final : public VectorIndex {
 public:
  explicit State(const VectorIndexOptions& options) : core(options), writer(core) {}

  Status insert(std::uint32_t id, std::span<const float> vector) override {
    return writer.insert(id, vector);
  }
  bool remove(std::uint32_t id) override { return writer.remove(id); }
  VectorState state(std::uint32_t id) const override { return core.slots.get(id).state(); }
  Result<std::vector<VectorHit>> search(std::span<const float> query,
                                        const VectorSearch& how) const override {
    return internal::search(core, query, how);
  }
  Result<StepOutcome> step(SteadyTime now) override {
    const std::lock_guard lock(stepping);
    return writer.step(now);
  }
  Status verify(const VectorsExpected& expected,
                const std::function<void(std::string)>& fault) const override {
    const std::lock_guard lock(stepping);
    return writer.verify(expected, fault);
  }
  VectorStats stats() const override { return writer.stats(); }
  const VectorSpace& space() const override { return core.options.space; }
  VectorCheckpoint checkpoint(std::uint64_t lsn, Scope scope) override {
    const std::lock_guard lock(stepping);
    return writer.checkpoint(lsn, scope);
  }
  std::uint64_t applied_lsn() const override { return writer.applied_lsn(); }

  VectorCore core;
  mutable std::mutex stepping;  // held during step(), verify() and checkpoint()
  VectorWriter writer;
};

namespace {

Status check(const VectorIndexOptions& options) {
  KIN_RETURN_IF_ERROR(check_space(options.space));
  // At most 1,000, so that a cell has room to grow before it is split: see kMostSlots.
  if (options.cell_size < 8 || options.cell_size > 1000)
    return Error{Code::kInvalidArgument, "a cell holds 8 to 1,000 vectors"};
  if (options.space.storage != RawStorage::kElsewhere || options.raw != nullptr) return Done{};
  return Error{Code::kInvalidArgument,
               "a space whose vectors are stored elsewhere needs `raw` to read them"};
}

}  // namespace

Result<std::unique_ptr<VectorIndex>> VectorIndex::create(const VectorIndexOptions& options) {
  KIN_RETURN_IF_ERROR(check(options));
  return std::unique_ptr<VectorIndex>(std::make_unique<State>(options));
}

Result<std::unique_ptr<VectorIndex>> VectorIndex::restore(
    const VectorIndexOptions& options, std::string_view bytes,
    const std::function<Result<std::string>(std::uint32_t number)>& read_cell) {
  KIN_TRY(const VectorCheckpointHead head, internal::decode_head(bytes));
  if (!(head.space == options.space))
    return Error{Code::kFailedPrecondition, "the checkpoint is of another vector space"};
  KIN_RETURN_IF_ERROR(check(options));
  auto index = std::make_unique<State>(options);
  Draft draft{.centres = Matrix(options.space.dimension),
              .postings = {},
              .pending = {},
              .curve = head.curve,
              .touched = {}};
  for (std::uint32_t p = 0; p < head.sums.size(); ++p) {
    KIN_TRY(const std::string stored, read_cell(p));
    // An intact cell is still wrong here if it is from an older checkpoint.
    if (checksum(stored) != head.sums[p])
      return Error{Code::kDataLoss,
                   "a cell of vectors does not match its checksum in the checkpoint"};
    const float ratio = index->core.encoder.full_error_ratio();
    KIN_TRY(internal::VectorCell read, internal::decode_cell(options.space, ratio, p, stored));
    draft.centres.add(read.centre);
    draft.put(p, std::move(read.posting));
  }
  KIN_RETURN_IF_ERROR(index->writer.adopt(head, std::move(draft)));
  return std::unique_ptr<VectorIndex>(std::move(index));
}

}  // namespace kin::index
