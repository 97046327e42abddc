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

std::shared_ptr<SpaceGeneration> without_index(const SpaceOptions& options) {
  auto made = std::make_shared<SpaceGeneration>();
  made->options = options;
  made->raw = std::make_unique<TruthVectors>(options);
  return made;
}

VectorIndexOptions index_options(const SpaceGeneration& made, std::uint32_t cell_size) {
  return {.space = made.options.space, .raw = made.raw.get(), .cell_size = cell_size};
}

}  // namespace

Result<bool> TruthVectors::read(std::uint32_t id, std::span<float> out) const {
  if (view_ == nullptr) return Error{Code::kInternal, "vectors were asked for between two steps"};
  KIN_TRY(const auto vector, vector_of(*view_, space_, DocNumber{id}));
  if (!vector || vector->size() != out.size()) return false;
  std::ranges::copy(*vector, out.begin());
  return true;
}

Result<std::shared_ptr<SpaceGeneration>> SpaceGeneration::create(const SpaceOptions& options,
                                                                 std::uint32_t cell_size) {
  auto made = without_index(options);
  KIN_TRY(made->index, VectorIndex::create(index_options(*made, cell_size)));
  return made;
}

Result<std::shared_ptr<SpaceGeneration>> SpaceGeneration::restore(
    const SpaceOptions& options, std::uint32_t cell_size, std::string_view head,
    const std::function<Result<std::string>(std::uint32_t number)>& read_cell) {
  auto made = without_index(options);
  KIN_TRY(made->index, VectorIndex::restore(index_options(*made, cell_size), head, read_cell));
  return made;
}

void SpaceGeneration::retire(std::uint32_t number, Lsn lsn) {
  // The scan may have read the document and not yet inserted its vector.
  if (scan) scan->gone.insert(number);
  const VectorState state = index->state(number);
  if (state == VectorState::kPending || state == VectorState::kIndexed)
    queue.push_back({lsn, number});
}

void SpaceGeneration::drain(Lsn oldest) {
  // The queue is in the order of LSNs.
  for (; !queue.empty() && queue.front().lsn <= oldest; queue.pop_front())
    index->remove(queue.front().number);
}

std::shared_ptr<const std::vector<std::uint32_t>> SpaceGeneration::retired() const {
  // Most views have none: they share one empty list.
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
