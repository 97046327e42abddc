#include "index/text/plan.h"

#include <algorithm>
#include <unordered_map>

#include "index/text/terms.h"
#include "text/tokens.h"

namespace kin::index {
namespace {

// Whether a document can match without this part of the query.
enum class Role : std::uint8_t { kOptional, kDeciding };

class Planner {
 public:
  Planner(const PlanRequest& request, TextAnalyzer& analyzer, TextStatistics& used)
      : request_(request), analyzer_(analyzer), used_(used) {}

  Plan plan(const TextQuery& query, Role role) {
    switch (query.kind) {
      case TextQuery::Kind::kBoolean: return boolean(query);
      case TextQuery::Kind::kEverything: return {.kind = Plan::Kind::kEverything};
      case TextQuery::Kind::kWords: return words(query, role);
      case TextQuery::Kind::kPhrase: return facet_of(query) ? words(query, role) : phrase(query);
      case TextQuery::Kind::kPattern: return pattern(query, role);
      case TextQuery::Kind::kFuzzy: return fuzzy(query, role);
    }
    KIN_UNREACHABLE();
  }

 private:
  Plan boolean(const TextQuery& query) {
    Plan result{.kind = Plan::Kind::kBoolean};
    const auto add_all = [&](const std::vector<TextQuery>& from, std::vector<Plan>& to, Role role) {
      for (const TextQuery& part : from) {
        Plan planned = plan(part, role);
        if (planned.kind != Plan::Kind::kNothing) to.push_back(std::move(planned));
      }
    };
    // Parts without any word, such as punctuation, are ignored instead of matching nothing.
    add_all(query.must, result.must, Role::kDeciding);
    add_all(query.should, result.should, Role::kOptional);
    add_all(query.must_not, result.must_not, Role::kDeciding);
    join_terms(result.should);
    if (result.must.empty() && result.should.empty() && result.must_not.empty()) return {};
    // A single optional part has to match, so it is the whole plan.
    if (result.must.empty() && result.must_not.empty() && result.should.size() == 1)
      return Plan(std::move(result.should.front()));
    return result;
  }

  // All optional terms of all fields become one list, each term once.
  static void join_terms(std::vector<Plan>& parts) {
    std::vector<Plan> rest;
    // One list of terms takes the fast path of a search; parts for one field keep their own.
    Plan joined{.kind = Plan::Kind::kTerms};
    std::unordered_map<std::string, std::size_t> places;
    for (Plan& part : parts) {
      if (part.kind != Plan::Kind::kTerms || part.field) {
        rest.push_back(std::move(part));
        continue;
      }
      for (PlanTerm& term : part.terms) {
        const auto [place, fresh] = places.emplace(term.key, joined.terms.size());
        if (fresh) {
          joined.terms.push_back(std::move(term));
          continue;
        }
        float& weight = joined.terms[place->second].weight;
        weight = std::min(weight + term.weight, kHeaviestWeight * kScoreUnit);
      }
    }
    if (!joined.terms.empty()) rest.push_back(std::move(joined));
    parts = std::move(rest);
  }

  // A query has few words, so a loop over them is enough.
  static void add_term(std::vector<PlanTerm>& terms, PlanTerm term) {
    for (PlanTerm& known : terms) {
      if (known.key != term.key) continue;
      known.weight = std::min(known.weight + term.weight, kHeaviestWeight * kScoreUnit);
      return;
    }
    terms.push_back(std::move(term));
  }

  std::optional<std::size_t> facet_of(const TextQuery& query) const {
    const auto& facets = request_.options->facets;
    const auto found = std::ranges::find(facets, query.field);
    if (query.field.empty() || found == facets.end()) return std::nullopt;
    return static_cast<std::size_t>(found - facets.begin());
  }

  std::optional<Plan::Field> field_of(const TextQuery& query) const {
    const auto& fields = request_.options->fields;
    const auto found = std::ranges::find(fields, query.field, &TextField::name);
    if (query.field.empty() || found == fields.end()) return std::nullopt;
    return Plan::Field{.place = static_cast<std::size_t>(found - fields.begin()),
                       .quarters = static_cast<std::uint32_t>(found->weight * 4)};
  }

  Plan words(const TextQuery& query, Role role) {
    if (const auto facet = facet_of(query)) return facet_values(*facet, query);
    analyzer_.query(query.text, tokens_);
    // "+wave-length" asks for both words, next to each other.
    if (role == Role::kDeciding && tokens_.size() > 1) return phrase(query);
    Plan result{.kind = Plan::Kind::kTerms, .field = field_of(query)};
    for (const TextToken& token : tokens_) add_term(result.terms, term(*token.stem));
    return result.terms.empty() ? Plan{} : result;
  }

  Plan phrase(const TextQuery& query) {
    analyzer_.query(query.text, tokens_);
    if (tokens_.empty()) return {};
    Plan result{.kind = Plan::Kind::kPhrase, .field = field_of(query)};
    for (const TextToken& token : tokens_) {
      result.terms.push_back(term(*token.stem));
      result.offsets.push_back(token.position - tokens_.front().position);
    }
    if (result.terms.size() == 1) result.kind = Plan::Kind::kTerms;  // needs no positions
    return result;
  }

  Plan facet_values(std::size_t facet, const TextQuery& query) const {
    return facet_terms(facet_prefix(facet, query.text) + kEndOfName,
                       [](std::string_view) { return true; });
  }

  Plan facet_pattern(std::size_t facet, const TextQuery& query) const {
    const std::string space = facet_prefix(facet, "");
    const std::string wanted = folded(query.text);
    return facet_terms(space, [&](std::string_view key) {
      const std::string_view rest = key.substr(space.size());
      return matches_pattern(rest.substr(0, rest.rfind(kEndOfName)), wanted);
    });
  }

  // The values of facets whose keys begin with `prefix` and are accepted.
  template <typename Accepts>
  Plan facet_terms(const std::string& prefix, const Accepts& accepts) const {
    std::map<std::string, std::uint64_t> found;
    for (const TextSegment* segment : request_.segments) {
      segment->each_term(prefix, [&](const TextSegment::Terms& terms) {
        if (accepts(terms.key())) found[terms.key()] += terms.postings().documents;
      });
    }
    Plan result{.kind = Plan::Kind::kFacet};
    for (const auto& [key, frequency] : found)
      result.terms.push_back({.key = key, .frequency = frequency});
    return result;
  }

  // Folds the literal pieces of a pattern between its wildcards.
  static std::string folded(std::string_view pattern) {
    std::string result;
    std::string piece;
    while (!pattern.empty()) {
      const std::size_t end =
          std::min(pattern.find_first_of(std::string{kAnyText, kAnyCharacter}), pattern.size());
      text::fold_word(pattern.substr(0, end), piece);
      result += piece;
      if (end == pattern.size()) break;
      result += pattern[end];
      pattern.remove_prefix(end + 1);
    }
    return result;
  }

  bool has_units(std::string_view text) {
    analyzer_.query(text, tokens_);
    return std::ranges::any_of(tokens_, &TextToken::unit);
  }

  Plan pattern(const TextQuery& query, Role role) {
    if (const auto facet = facet_of(query)) return facet_pattern(*facet, query);
    // In scripts without spaces every word is a prefix already.
    if (has_units(query.text)) return words(query, role);
    const std::string space(1, analyzer_.form_space());
    const std::string wanted = folded(query.text);
    return expansion(
        query, space,
        [&](const TextSegment& segment, const TermFound& found) {
          find_pattern(segment, space, wanted, found);
        },
        [&](std::string_view term) { return matches_pattern(term, wanted); });
  }

  Plan fuzzy(const TextQuery& query, Role role) {
    // Values of facets and characters are not misspelt. has_units() has filled tokens_.
    if (facet_of(query) || has_units(query.text)) return words(query, role);
    if (tokens_.size() != 1) return words(query, role);
    const std::string space(1, analyzer_.form_space());
    std::string word;
    text::fold_word(query.text, word);
    // The typed word may have punctuation around it; its form has none.
    if (tokens_.front().form != nullptr) word = tokens_.front().form->substr(1);
    return expansion(
        query, space,
        [&](const TextSegment& segment, const TermFound& found) {
          find_similar(segment, space, word, query.distance, found);
        },
        [&](std::string_view term) {
          return edit_distance(word, term, query.distance) <= query.distance;
        });
  }

  // `find` finds the terms of a segment that the
  // query stands for; `accepts` checks a single term.
  template <typename Find, typename Accepts>
  Plan expansion(const TextQuery& query, const std::string& space, const Find& find,
                 const Accepts& accepts) {
    struct Expanded {
      std::uint64_t frequency = 0;
      int distance = 0;
    };
    std::map<std::string, Expanded> found;
    for (const TextSegment* segment : request_.segments) {
      find(*segment, [&](const TextSegment::Terms& terms, int distance) {
        Expanded& one = found[terms.key()];
        one.frequency += terms.postings().documents;
        one.distance = distance;
      });
    }
    Plan result{.kind = Plan::Kind::kTerms, .field = field_of(query)};
    std::uint64_t most = 0;
    for (auto& [key, one] : found) {
      one.frequency = note(key, one.frequency);
      most = std::max(most, one.frequency);
    }
    if (request_.given != nullptr) {
      // Another shard may have a more frequent term, and all shards must compute the same weight.
      const auto& given = request_.given->frequencies;
      for (auto at = given.lower_bound(space); at != given.end() && at->first.starts_with(space);
           ++at) {
        if (accepts(std::string_view(at->first).substr(space.size())))
          most = std::max(most, at->second);
      }
    }
    // All variants get the weight of the most frequent one: a rare misspelling must not outweigh
    // the word itself.
    const double inverse = inverse_frequency(used_.documents, most);
    for (const auto& [key, one] : found) {
      result.terms.push_back(
          {.key = key,
           .inverse_frequency = inverse,
           .weight = term_weight(inverse, request_.options->ranking, 1.0 / (1 + one.distance)),
           .frequency = one.frequency});
    }
    // No such term: the part matches nothing, unlike kNothing, which is ignored.
    if (found.empty()) result.kind = Plan::Kind::kFacet;
    return result;
  }

  PlanTerm term(const std::string& key) {
    PlanTerm made{.key = key};
    std::uint64_t local = 0;
    for (const TextSegment* segment : request_.segments) {
      // Kept, so that the search of the segment need not look the key up again.
      made.found.push_back(segment->find(key).value_or(TermPostings{}));
      local += made.found.back().documents;
    }
    made.frequency = note(key, local);
    made.inverse_frequency = inverse_frequency(used_.documents, made.frequency);
    made.weight = term_weight(made.inverse_frequency, request_.options->ranking, 1);
    return made;
  }

  // The frequency to use, also recorded for statistics().
  std::uint64_t note(const std::string& key, std::uint64_t local) {
    // Frequencies of all shards, if they are given, so that all shards compute the same score.
    std::uint64_t frequency = local;
    if (request_.given != nullptr) {
      const auto given = request_.given->frequencies.find(key);
      if (given != request_.given->frequencies.end()) frequency = given->second;
    }
    used_.frequencies[key] = frequency;
    return frequency;
  }

  const PlanRequest& request_;
  TextAnalyzer& analyzer_;
  TextStatistics& used_;
  std::vector<TextToken> tokens_;
};

}  // namespace

void TextStatistics::add(const TextStatistics& other) {
  documents += other.documents;
  total_length += other.total_length;
  for (const auto& [key, frequency] : other.frequencies) frequencies[key] += frequency;
}

PlannedQuery plan_query(const TextQuery& query, const PlanRequest& request,
                        TextAnalyzer& analyzer) {
  PlannedQuery planned;
  if (request.given != nullptr) {
    planned.used.documents = request.given->documents;
    planned.used.total_length = request.given->total_length;
  } else {
    for (const TextSegment* segment : request.segments) {
      planned.used.documents += segment->size();
      planned.used.total_length += segment->total_length();
    }
  }
  // An empty index has no average length; then every length counts alike.
  const double average = planned.used.documents == 0
                             ? 0
                             : static_cast<double>(planned.used.total_length) /
                                   static_cast<double>(planned.used.documents);
  planned.norm = LengthNorm::of(request.options->ranking, average);
  planned.root = Planner(request, analyzer, planned.used).plan(query, Role::kOptional);
  return planned;
}

}  // namespace kin::index
