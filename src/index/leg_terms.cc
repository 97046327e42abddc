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

}  // namespace

LegTerms::LegTerms(TextOptions options)
    : options_(std::move(options)), analyzers_(std::make_unique<AnalyzerPool>(options_.language)) {}
LegTerms::~LegTerms() = default;

Result<std::optional<std::vector<std::string>>> LegTerms::of(const TextLeg& leg) const {
  KIN_TRY(const TextQuery query, parse_leg(leg, options_));
  if (needs_dictionary(query)) return std::optional<std::vector<std::string>>();
  auto analyzer = analyzers_->borrow();
  // Planned over no segments: the same terms, each in no document.
  const PlannedQuery planned = plan_query(query, {.options = &options_}, *analyzer);
  analyzers_->give_back(std::move(analyzer));
  std::vector<std::string> keys;
  for (const auto& [key, frequency] : planned.used.frequencies) keys.push_back(key);
  return std::optional(std::move(keys));
}

}  // namespace kin::index
