#include "index/shard/space.h"

#include <algorithm>

#include "index/shard/documents.h"

namespace kin::index {
namespace {

Result<std::optional<std::vector<float>>> vector_of(const TruthView& view,
                                                    const SpaceOptions& space, DocNumber number) {
  if (space.origin == VectorOrigin::kGiven) {
    KIN_TRY(auto found, view.vectors(std::span(&number, 1), space.name));
    return std::move(found[0]);
  }
  KIN_TRY(auto document, view.document(number, {.vectors = false, .summaries = false}));
  if (!document) return std::optional<std::vector<float>>();
  KIN_TRY(auto vectors, vectors_of(space, std::span(&*document, 1)));
  return std::move(vectors[0]);
}

Result<bool> read_vector(const TruthView& view, const SpaceOptions& space, std::uint32_t id,
                         std::span<float> out) {
  KIN_TRY(const auto vector, vector_of(view, space, DocNumber{id}));
  if (!vector || vector->size() != out.size()) return false;
  std::ranges::copy(*vector, out.begin());
  return true;
}

VectorIndexOptions index_options(const SpaceOptions& options, const RawVectors* raw,
                                 std::uint32_t cell_size) {
  return {.space = options.space, .raw = raw, .cell_size = cell_size};
}

}  // namespace

Result<bool> TruthVectors::read(std::uint32_t id, std::span<float> out) const {
  return read_vector(*view_, space_, id, out);
}

Result<bool> PinnedVectors::read(std::uint32_t id, std::span<float> out) const {
  if (view_ == nullptr) return Error{Code::kInternal, "vectors were asked for between two steps"};
  return read_vector(*view_, space_, id, out);
}

Result<std::shared_ptr<SpaceGeneration>> SpaceGeneration::create(const SpaceOptions& options,
                                                                 std::uint32_t cell_size) {
  auto made = std::make_shared<SpaceGeneration>();
  made->options = options;
  made->raw = std::make_unique<PinnedVectors>(options);
  KIN_TRY(made->index, VectorIndex::create(index_options(options, made->raw.get(), cell_size)));
  return made;
}

Result<std::shared_ptr<SpaceGeneration>> SpaceGeneration::restore(
    const SpaceOptions& options, std::uint32_t cell_size, std::string_view head,
    const std::function<Result<std::string>(std::uint32_t number)>& read_cell) {
  auto made = std::make_shared<SpaceGeneration>();
  made->options = options;
  made->raw = std::make_unique<PinnedVectors>(options);
  KIN_TRY(made->index, VectorIndex::restore(index_options(options, made->raw.get(), cell_size),
                                            head, read_cell));
  return made;
}

void SpaceGeneration::retire(std::uint32_t number, Lsn lsn) {
  if (scan) scan->gone.insert(number);
  const VectorState state = index->state(number);
  if (state == VectorState::kPending || state == VectorState::kIndexed)
    queue.push_back({lsn, number});
}

void SpaceGeneration::drain(Lsn oldest) {
  for (; !queue.empty() && queue.front().lsn <= oldest; queue.pop_front())
    index->remove(queue.front().number);
}

std::shared_ptr<const std::vector<std::uint32_t>> SpaceGeneration::retired() const {
  static const auto kNone = std::make_shared<const std::vector<std::uint32_t>>();
  if (queue.empty()) return kNone;
  auto numbers = std::make_shared<std::vector<std::uint32_t>>();
  for (const Retired& one : queue) numbers->push_back(one.number);
  std::ranges::sort(*numbers);
  return numbers;
}

double SpaceGeneration::share() const {
  if (!scan || scan->below == 0) return scan ? 0 : 1;
  return scan->after ? static_cast<double>(*scan->after) / scan->below : 0;
}

}  // namespace kin::index
