// Every index of a shard, made anew from the truth and compared.
#include <fmt/format.h>

#include <algorithm>

#include "index/internal/shard_state.h"
#include "index/shard_documents.h"
#include "index/text_compare.h"
#include "index/truth_check.h"

namespace kin::index {
namespace {

using Fault = std::function<void(std::string)>;
constexpr std::size_t kMostFaults = 1'000;

// The vectors of a space, made anew.
class ExpectedVectors : public RawVectors {
 public:
  explicit ExpectedVectors(SpaceOptions space) : space_(std::move(space)) {}

  Status add(std::span<const Document> documents) {
    KIN_TRY(const auto vectors, vectors_of(space_, documents));
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (!vectors[i]) continue;
      ids_.push_back(number_of(documents[i]));
      values_.insert(values_.end(), vectors[i]->begin(), vectors[i]->end());
    }
    return Done{};
  }

  Result<bool> read(std::uint32_t id, std::span<float> out) const override {
    const auto found = std::ranges::lower_bound(ids_, id);
    if (found == ids_.end() || *found != id) return false;
    const auto row = static_cast<std::size_t>(found - ids_.begin());
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(row * out.size()), out.size(),
                out.begin());
    return true;
  }
  const std::vector<std::uint32_t>& ids() const { return ids_; }

 private:
  SpaceOptions space_;
  std::vector<std::uint32_t> ids_;
  std::vector<float> values_;
};

// The signatures of one moment, each of which is met once.
class ExpectedSignatures {
 public:
  ExpectedSignatures(const NearDuplicates& is, const Fault& fault)
      : is_(is), left_(is.size()), fault_(fault) {}

  void see(const Document& document) {
    const auto* stored = std::get_if<StoredEntity>(&document);
    if (stored == nullptr) return;
    const std::uint32_t number = number_of(document);
    const auto keys = is_.keys(number);
    if (!keys.empty()) --left_;
    if (!std::ranges::equal(keys, is_.sketch(stored->entity).keys))
      fault_(fmt::format("the signature of number {} is not that of its text", number));
  }
  void finish() {
    if (left_ > 0) fault_(fmt::format("{} signatures stand for no entity", left_));
  }

 private:
  const NearDuplicates& is_;
  std::size_t left_;
  const Fault& fault_;
};

}  // namespace

// The state that is held keeps what it sees in the indexes of vectors.
Result<CheckReport> Shard::State::check(const std::function<void(double)>& progress) const {
  const std::lock_guard stepping(stepping_);
  std::unique_lock lock(writing_);
  KIN_RETURN_IF_ERROR(refused());
  const auto now = now_;
  const TextCheckpoint text = text_->checkpoint();
  const std::optional<NearDuplicates> near = near_;
  std::vector<std::shared_ptr<SpaceGeneration>> spaces;
  std::vector<std::shared_ptr<const std::vector<std::uint32_t>>> retired;
  for (const ShardSpace& space : spaces_) {
    if (!space.live->is_complete()) continue;
    spaces.push_back(space.live);
    retired.push_back(space.live->retired());
  }
  lock.unlock();

  const Counters counters = now->truth.counters();
  CheckReport report{.entities = counters.entities,
                     .edges = counters.edges,
                     .fragments = counters.fragments,
                     .text_documents = now->text.documents()};
  const Fault fault = [&](std::string what) {
    if (report.faults.size() < kMostFaults) report.faults.push_back(std::move(what));
  };
  const auto tell = [&](double share) {
    if (progress) progress(share);
  };
  KIN_RETURN_IF_ERROR(check_truth(now->truth, fault));
  tell(0.2);

  const TextOptions options = text_options(options_);
  KIN_TRY(TextIndex should, TextIndex::create(options));
  std::vector<ExpectedVectors> vectors;
  for (const auto& space : spaces) vectors.emplace_back(space->options);
  std::optional<ExpectedSignatures> signatures;
  if (near) signatures.emplace(*near, fault);
  std::uint64_t seen = 0;
  KIN_RETURN_IF_ERROR(each_page(now->truth, {}, [&](std::vector<Document> page, bool) -> Status {
    TextChanges changes{.lsn = should.view().applied() + 1};
    for (const Document& document : page) changes.upserts.push_back(text_document(document));
    should.apply(std::move(changes));
    for (ExpectedVectors& of : vectors) KIN_RETURN_IF_ERROR(of.add(page));
    if (signatures) std::ranges::for_each(page, [&](const auto& one) { signatures->see(one); });
    seen += page.size();
    tell(0.2 + 0.5 * static_cast<double>(seen) /
                   static_cast<double>(std::max<std::uint64_t>(1, report.text_documents)));
    return Done{};
  }));
  if (signatures) signatures->finish();
  KIN_RETURN_IF_ERROR(compare_texts(options, text, std::move(should), fault));
  tell(0.9);
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    report.vectors += vectors[i].ids().size();
    const Fault of_space = [&](std::string what) {
      fault(fmt::format("space {}: {}", spaces[i]->options.name, what));
    };
    KIN_RETURN_IF_ERROR(spaces[i]->index->verify({.ids = vectors[i].ids(),
                                                  .vectors = vectors[i],
                                                  .below = counters.numbers,
                                                  .without = *retired[i]},
                                                 of_space));
  }
  tell(1);
  return report;
}

}  // namespace kin::index
