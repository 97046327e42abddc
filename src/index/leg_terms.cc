#include "index/leg_terms.h"

#include <algorithm>

#include "index/text/plan.h"
#include "index/text/view.h"
#include "index/text_leg.h"

namespace kin::index {
namespace {

bool needs_dictionary(const TextQuery& query) {
  using Kind = TextQuery::Kind;
  if (query.kind == Kind::kPattern || query.kind == Kind::kFuzzy) return true;
  return std::ranges::any_of(query.must, needs_dictionary) ||
         std::ranges::any_of(query.should, needs_dictionary) ||
         std::ranges::any_of(query.must_not, needs_dictionary);
}

// Whether a document of a collection with these statistics can match the plan.
bool may_match(const Plan& plan, const TextStatistics& statistics) {
  const auto has = [&](const PlanTerm& term) {
    const auto frequency = statistics.frequencies.find(term.key);
    return frequency == statistics.frequencies.end() || frequency->second > 0;
  };
  const auto may = [&](const Plan& part) { return may_match(part, statistics); };
  switch (plan.kind) {
    case Plan::Kind::kNothing: return false;
    case Plan::Kind::kTerms: return std::ranges::any_of(plan.terms, has);
    case Plan::Kind::kPhrase: return std::ranges::all_of(plan.terms, has);
    case Plan::Kind::kFacet:  // statistics have no values of facets
    case Plan::Kind::kEverything: return true;
    case Plan::Kind::kBoolean:
      if (!plan.must.empty()) return std::ranges::all_of(plan.must, may);
      return plan.should.empty() || std::ranges::any_of(plan.should, may);
  }
  return true;
}

}  // namespace

LegTerms::LegTerms(TextOptions options)
    : options_(std::move(options)), analyzers_(std::make_unique<AnalyzerPool>(options_.language)) {}
LegTerms::~LegTerms() = default;

Result<std::optional<PlannedQuery>> LegTerms::plan(const TextLeg& leg) const {
  KIN_TRY(const TextQuery query, parse_leg(leg, options_));
  if (needs_dictionary(query)) return std::optional<PlannedQuery>();
  auto analyzer = analyzers_->borrow();
  // Planned over no segments: the same terms, each in no document.
  PlannedQuery planned = plan_query(query, {.options = &options_, .segments = {}}, *analyzer);
  analyzers_->give_back(std::move(analyzer));
  return std::optional(std::move(planned));
}

Result<std::optional<std::vector<std::string>>> LegTerms::of(const TextLeg& leg) const {
  KIN_TRY(const auto planned, plan(leg));
  if (!planned) return std::optional<std::vector<std::string>>();
  std::vector<std::string> keys;
  for (const auto& [key, frequency] : planned->used.frequencies) keys.push_back(key);
  return std::optional(std::move(keys));
}

Result<bool> LegTerms::may_match(const TextLeg& leg, const TextStatistics& statistics) const {
  KIN_TRY(const auto planned, plan(leg));
  return !planned || index::may_match(planned->root, statistics);
}

}  // namespace kin::index
