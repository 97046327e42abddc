// Rebuilds every index of a shard from the truth and compares.
#include <fmt/format.h>

#include <algorithm>

#include "index/shard/documents.h"
#include "index/shard/state.h"
#include "index/text/compare.h"
#include "index/truth/check.h"

namespace kin::index {
namespace {

using Fault = std::function<void(std::string)>;
constexpr std::size_t kMostFaults = 1'000;

// The vectors of a space as the truth has them.
class ExpectedVectors : public RawVectors {
 public:
  explicit ExpectedVectors(SpaceOptions space) : space_(std::move(space)) {}

  Status add(std::span<const StoredDocument> documents) {
    KIN_TRY(const auto vectors, vectors_of(space_, documents));
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (!vectors[i]) continue;
      ids_.push_back(number_of(documents[i]));
      values_.insert(values_.end(), vectors[i]->begin(), vectors[i]->end());
    }
    return Done{};
  }

  Result<bool> read(std::uint32_t id, std::span<float> out) const override {
    // Pages come in the order of numbers, so the ids ascend.
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

// Compares the signatures of a moment with the texts, each once.
class ExpectedSignatures {
 public:
  ExpectedSignatures(const NearDuplicates& is, const Fault& fault)
      : is_(is), left_(is.size()), fault_(fault) {}

  void see(const StoredDocument& document) {
    const auto* stored = std::get_if<StoredEntity>(&document);
    if (stored == nullptr) return;
    const std::uint32_t number = number_of(document);
    const auto keys = is_.keys(number);
    if (!keys.empty()) --left_;
    if (!std::ranges::equal(keys, is_.sketch(stored->entity).keys))
      fault_(fmt::format("the signature of number {} is not that of its text", number));
  }
  void finish() {
    if (left_ > 0) fault_(fmt::format("{} signatures have no entity", left_));
  }

 private:
  const NearDuplicates& is_;
  std::size_t left_;
  const Fault& fault_;
};

// The state of a shard at one moment.
struct Moment {
  // Holding the view keeps its numbers in the vector indexes.
  std::shared_ptr<const ShardView::State> state;
  TextCheckpoint text;
  std::optional<NearDuplicates> near;
  std::vector<std::shared_ptr<SpaceGeneration>> spaces;                    // complete ones
  std::vector<std::shared_ptr<const std::vector<std::uint32_t>>> retired;  // of each
};

// One thread only.
class Checker {
 public:
  Checker(const Moment& moment, const TextOptions& options,
          const std::function<void(double)>& progress)
      : moment_(moment), options_(options), progress_(progress) {}

  Result<CheckReport> run() {
    const Counters& counters = moment_.state->truth.counters();
    report_ = {.entities = counters.entities,
               .edges = counters.edges,
               .fragments = counters.fragments,
               .text_documents = moment_.state->text.documents()};
    KIN_RETURN_IF_ERROR(check_truth(moment_.state->truth, fault_));
    tell(0.2);
    KIN_TRY(TextIndex should, make_anew());
    KIN_RETURN_IF_ERROR(compare_texts(options_, moment_.text, std::move(should), fault_));
    tell(0.9);
    KIN_RETURN_IF_ERROR(compare_vectors());
    tell(1);
    return std::move(report_);
  }

 private:
  void tell(double share) const {
    if (progress_) progress_(share);
  }

  // Rebuilds the text, and collects vectors and signatures in the same pass.
  Result<TextIndex> make_anew() {
    KIN_TRY(TextIndex text, TextIndex::create(options_));
    for (const auto& space : moment_.spaces) vectors_.emplace_back(space->options);
    std::optional<ExpectedSignatures> signatures;
    if (moment_.near) signatures.emplace(*moment_.near, fault_);
    const auto all = static_cast<double>(report_.text_documents + 1);
    std::uint64_t seen = 0;
    const auto see = [&](const std::vector<StoredDocument>& page, bool) -> Status {
      TextChanges changes{.lsn = text.view().applied() + 1};  // older LSNs would be ignored
      for (const StoredDocument& document : page)
        changes.upserts.push_back(text_document(document));
      text.apply(std::move(changes));
      for (ExpectedVectors& of : vectors_) KIN_RETURN_IF_ERROR(of.add(page));
      if (signatures) std::ranges::for_each(page, [&](const auto& one) { signatures->see(one); });
      seen += page.size();
      tell(0.2 + 0.5 * static_cast<double>(seen) / all);
      return Done{};
    };
    KIN_RETURN_IF_ERROR(each_page(moment_.state->truth, {}, see));
    if (signatures) signatures->finish();
    return text;
  }

  Status compare_vectors() {
    for (std::size_t i = 0; i < vectors_.size(); ++i) {
      const SpaceGeneration& space = *moment_.spaces[i];
      report_.vectors += vectors_[i].ids().size();
      const VectorsExpected expected{.ids = vectors_[i].ids(),
                                     .vectors = vectors_[i],
                                     .below = moment_.state->truth.counters().numbers,
                                     .without = *moment_.retired[i]};
      KIN_RETURN_IF_ERROR(space.index->verify(expected, [&](std::string what) {
        fault_(fmt::format("space {}: {}", space.options.name, what));
      }));
    }
    return Done{};
  }

  const Moment& moment_;
  const TextOptions& options_;
  const std::function<void(double)>& progress_;
  CheckReport report_;
  const Fault fault_ = [this](std::string what) {
    if (report_.faults.size() < kMostFaults) report_.faults.push_back(std::move(what));
  };
  std::vector<ExpectedVectors> vectors_;
};

}  // namespace

Result<CheckReport> Shard::State::check(const std::function<void(double)>& progress) const {
  // Held to the end: a step would change the cells while they are compared.
  const std::lock_guard stepping(stepping_);
  Moment moment;
  {
    const std::lock_guard lock(writing_);
    KIN_RETURN_IF_ERROR(refused());
    moment = {
        .state = now_, .text = text_->checkpoint(), .near = near_, .spaces = {}, .retired = {}};
    for (const ShardSpace& space : spaces_) {
      // An index that still reads older documents lacks some by design.
      if (!space.live->is_complete()) continue;
      moment.spaces.push_back(space.live);
      moment.retired.push_back(space.live->retired());
    }
  }
  const TextOptions options = text_options(options_);
  return Checker(moment, options, progress).run();
}

}  // namespace kin::index
