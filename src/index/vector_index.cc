#include "index/vector_index.h"

#include <mutex>

#include "base/hash.h"
#include "index/vector/core.h"
#include "index/vector/format.h"
#include "index/vector/writer.h"

namespace kin::index {

using internal::Draft;
using internal::VectorCheckpointHead;
using internal::VectorCore;
using internal::VectorWriter;

class VectorIndex::State {
 public:
  explicit State(const VectorIndexOptions& options) : core(options), writer(core) {}

  VectorCore core;
  mutable std::mutex stepping;  // held during step(), verify() and checkpoint()
  VectorWriter writer;
};

VectorIndex::VectorIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}
VectorIndex::~VectorIndex() = default;

Result<std::unique_ptr<VectorIndex>> VectorIndex::create(const VectorIndexOptions& options) {
  KIN_RETURN_IF_ERROR(check_space(options.space));
  if (options.cell_size < 8 || options.cell_size > 1000)
    return Error{Code::kInvalidArgument, "a cell holds 8 to 1,000 vectors"};
  if (options.space.storage == RawStorage::kElsewhere && options.raw == nullptr)
    return Error{Code::kInvalidArgument,
                 "a space whose vectors are stored elsewhere needs `raw` to read them"};
  return std::unique_ptr<VectorIndex>(new VectorIndex(std::make_unique<State>(options)));
}

Result<std::unique_ptr<VectorIndex>> VectorIndex::restore(
    const VectorIndexOptions& options, std::string_view bytes,
    const std::function<Result<std::string>(std::uint32_t number)>& read_cell) {
  KIN_TRY(const VectorCheckpointHead head, internal::decode_head(bytes));
  if (!(head.space == options.space))
    return Error{Code::kFailedPrecondition, "the checkpoint is of another vector space"};
  KIN_TRY(std::unique_ptr<VectorIndex> index, create(options));
  Draft draft{.centres = Matrix(options.space.dimension),
              .postings = {},
              .pending = {},
              .curve = head.curve,
              .touched = {}};
  for (std::uint32_t p = 0; p < head.sums.size(); ++p) {
    KIN_TRY(const std::string stored, read_cell(p));
    if (checksum(stored) != head.sums[p])
      return Error{Code::kDataLoss,
                   "a cell of vectors does not match its checksum in the checkpoint"};
    const float ratio = index->state_->core.encoder.full_error_ratio();
    KIN_TRY(internal::VectorCell read, internal::decode_cell(options.space, ratio, p, stored));
    draft.centres.add(read.centre);
    draft.put(p, std::move(read.posting));
  }
  KIN_RETURN_IF_ERROR(index->state_->writer.adopt(head, std::move(draft)));
  return index;
}

Status VectorIndex::insert(std::uint32_t id, std::span<const float> vector) {
  return state_->writer.insert(id, vector);
}

bool VectorIndex::remove(std::uint32_t id) {
  return state_->writer.remove(id);
}

VectorState VectorIndex::state(std::uint32_t id) const {
  return state_->core.slots.get(id).state();
}

Result<std::vector<VectorHit>> VectorIndex::search(std::span<const float> query,
                                                   const VectorSearch& how) const {
  return internal::search(state_->core, query, how);
}

Result<StepOutcome> VectorIndex::step(SteadyTime now) {
  const std::lock_guard lock(state_->stepping);
  return state_->writer.step(now);
}

Status VectorIndex::verify(const VectorsExpected& expected,
                           const std::function<void(std::string)>& fault) const {
  const std::lock_guard lock(state_->stepping);
  return state_->writer.verify(expected, fault);
}

VectorStats VectorIndex::stats() const {
  return state_->writer.stats();
}

const VectorSpace& VectorIndex::space() const {
  return state_->core.options.space;
}

VectorCheckpoint VectorIndex::checkpoint(std::uint64_t lsn, Scope scope) {
  const std::lock_guard lock(state_->stepping);
  return state_->writer.checkpoint(lsn, scope);
}

std::uint64_t VectorIndex::applied_lsn() const {
  return state_->writer.applied_lsn();
}

}  // namespace kin::index
