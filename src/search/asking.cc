#include "search/asking.h"

#include <fmt/format.h>

#include <algorithm>

#include "index/text_leg.h"
#include "search/document.h"

namespace kin::search {

index::TextLeg text_leg(const Question& question) {
  using Syntax = index::TextLeg::Syntax;
  return {.query = question.text,
          .syntax = question.plain ? Syntax::kPlain : Syntax::kLanguage,
          .fuzzy = question.fuzzy};
}

namespace {

bool is_empty(const index::TextQuery& query) {
  using Kind = index::TextQuery::Kind;
  if (query.kind == Kind::kWords) return query.text.empty();
  return query.kind == Kind::kBoolean && query.must.empty() && query.must_not.empty() &&
         std::ranges::all_of(query.should, is_empty);
}

// True if the question has words, but only common ones such as "the".
bool is_common(const SearchSettings& settings, const Question& question) {
  if (question.text.empty() || !question.vector.empty()) return false;
  index::TextLeg leg = text_leg(question);
  leg.fuzzy = 0;
  const auto query = index::parse_leg(leg, settings.text);
  // Syntax errors are reported by the search itself.
  if (!query || is_empty(*query)) return false;
  return is_empty(index::without_common(*query, settings.text.language));
}

bool has_vectors(const Searched& searched, const Question& question) {
  const auto space = searched.space(question.space);
  return space && (space->source != nullptr || !question.vector.empty());
}

// Whether a vector can be made: "*", "tag:sea" and "-lakes" have no words for it.
bool has_meaning(const SearchSettings& settings, const Question& question) {
  if (!question.vector.empty()) return true;
  const auto words = index::extract_words(text_leg(question), settings.text);
  return !words || !words->empty();  // syntax errors are reported by the search itself
}

Mode mode_of(const Searched& searched, const SearchSettings& settings, const Question& question) {
  const Mode mode = question.mode;
  // A question without words to make a vector of is answered by its filters and patterns alone.
  if (mode == Mode::kHybrid && !question.text.empty())
    return has_meaning(settings, question) ? Mode::kHybrid : Mode::kText;
  if (mode != Mode::kBest) return mode;
  if (!question.from.empty()) return Mode::kGraph;
  if (question.text.empty()) return question.vector.empty() ? Mode::kText : Mode::kVector;
  return has_vectors(searched, question) && has_meaning(settings, question) ? Mode::kHybrid
                                                                            : Mode::kText;
}

Status check_space(const Searched& searched, const Question& question) {
  if (!searched.has_spaces())
    return Error{Code::kFailedPrecondition,
                 "the index has no vectors, or has not learnt any yet: search it by \"text\" or "
                 "\"graph\""};
  KIN_TRY(const SearchedSpace space, searched.space(question.space));
  if (question.vector.empty() || question.vector.size() == space.dimension) return Done{};
  return Error{Code::kInvalidArgument,
               fmt::format("the vector has {} numbers, and those of the space \"{}\" have {}",
                           question.vector.size(), space.name, space.dimension)};
}

std::vector<DocId> starts_of(const Question& question) {
  std::vector<DocId> from;
  for (const std::string& id : question.from) from.push_back(doc_id(id));
  if (from.empty() && !question.text.empty()) from.push_back(doc_id(question.text));
  return from;
}

Status check_starts(const Searched& searched, const Question& question) {
  const std::vector<DocId> from = starts_of(question);
  KIN_TRY(const auto there, searched.exist(from));
  // A start that does not exist would find nothing without saying why.
  for (std::size_t i = 0; i < there.size(); ++i)
    if (!there[i])
      return Error{Code::kNotFound,
                   fmt::format("there is no document \"{}\" to begin at",
                               question.from.empty() ? question.text : question.from[i])};
  return Done{};
}

// The vector to search by, made once for all shards and legs. Empty if the words have none in the
// space.
Result<std::vector<float>> make_vector(const Searched& searched, const Question& question,
                                       const std::string& words) {
  KIN_TRY(const SearchedSpace space, searched.space(question.space));
  if (space.source == nullptr)
    return Error{Code::kFailedPrecondition,
                 fmt::format("the space \"{}\" has no embedder for texts: search it by a vector",
                             space.name)};
  if (words.empty())
    return Error{Code::kInvalidArgument, "a search by vector needs a vector or words"};
  KIN_TRY(std::vector<float> vector, space.source->query(words));
  // A vector of zeros has no direction. Without a vector the leg finds nothing.
  if (std::ranges::all_of(vector, [](float value) { return value == 0; })) vector.clear();
  return vector;
}

// A question as a query, and the words to mark in its hits.
struct ReadyQuery {
  index::ShardQuery query = {};
  index::TextQuery words = {};
  index::TextQuery marks = {};  // `words` without common ones
  // The same as a leg, which can travel.
  index::TextLeg marked{.syntax = index::TextLeg::Syntax::kPlain};
};

Result<ReadyQuery> make_query(const Searched& searched, const SearchSettings& settings,
                              const Question& question, Mode mode) {
  // The moment of the facet "validity": for a question about the past, that moment.
  const index::Millis now = settings.clock->now().time_since_epoch().count();
  ReadyQuery ready{.query = {.scope = question.scope,
                             .fusion = {.how = question.fusion,
                                        .alpha = question.alpha.value_or(settings.alpha)},
                             .expand = question.expand,
                             .k = question.k,
                             .offset = question.offset,
                             .facets = question.facets,
                             .validity_at = question.scope.as_of.value_or(now)}};
  index::ShardQuery& query = ready.query;
  query.expand.edges.as_of = question.scope.as_of;
  if (mode == Mode::kGraph) {
    KIN_RETURN_IF_ERROR(check_starts(searched, question));
    query.graph = index::GraphStart{.from = starts_of(question)};
    return ready;
  }
  const index::TextLeg words = text_leg(question);
  const bool asks_words = mode == Mode::kText || mode == Mode::kHybrid;
  if (asks_words && !question.text.empty()) {
    query.text = words;
    ready.marked = words;
    KIN_TRY(ready.words, index::parse_leg(words, settings.text));
  }
  if (mode == Mode::kVector || mode == Mode::kHybrid) {
    KIN_RETURN_IF_ERROR(check_space(searched, question));
    query.vector = index::VectorLeg{.space = question.space,
                                    .vector = question.vector,
                                    .recall = question.recall,
                                    .exact = question.exact};
    if (question.vector.empty()) {
      KIN_TRY(const std::string meant, index::extract_words(words, settings.text));
      KIN_TRY(query.vector->vector, make_vector(searched, question, meant));
      // Words that were not searched for are marked in the hits all the same.
      if (!query.text) {
        ready.words = index::plain_query(meant);
        ready.marked = {.query = meant, .syntax = index::TextLeg::Syntax::kPlain};
      }
    }
  }
  ready.marks = index::without_common(ready.words, settings.text.language);
  // A vector leg alone ranks all documents, so there is nothing to count.
  query.count = question.count && (query.text || !query.vector);
  return ready;
}

// A pipeline as stages. The words of the last stage that has any are marked.
struct ReadyStages {
  std::vector<index::Stage> stages = {};
  index::TextQuery words = {};
  index::TextQuery marks = {};
  index::TextLeg marked{.syntax = index::TextLeg::Syntax::kPlain};
  bool by_words = false;
};

Result<ReadyStages> make_stages(const Searched& searched, const SearchSettings& settings,
                                const Question& question) {
  ReadyStages ready;
  for (const StageQuestion& stage : question.pipeline) {
    if (stage.kind == StageQuestion::Kind::kFind) {
      auto made =
          make_query(searched, settings, stage.find, mode_of(searched, settings, stage.find));
      if (!made)
        return with_context(fmt::format("stage {} of the pipeline", ready.stages.size() + 1),
                            made.error());
      // Stages by links and filters keep the words of the stage before.
      if (made->query.text || made->query.vector) {
        ready.words = std::move(made->words);
        ready.marks = std::move(made->marks);
        ready.marked = std::move(made->marked);
        ready.by_words = made->query.text.has_value();
      }
      ready.stages.emplace_back(
          index::FindStage{.query = std::move(made->query), .keep = stage.keep});
    } else if (stage.kind == StageQuestion::Kind::kExpand) {
      ready.stages.emplace_back(index::ExpandStage{.expand = stage.expand});
    } else if (stage.kind == StageQuestion::Kind::kFilter) {
      ready.stages.emplace_back(index::FilterStage{.scope = stage.filter});
    } else {
      ready.stages.emplace_back(index::LimitStage{.k = stage.limit});
    }
  }
  return ready;
}

// The answer to an empty question.
index::ShardHits nothing(const Question& question) {
  index::ShardHits none{.count = 0};
  for (const std::string& name : question.facets) none.facets.push_back({.name = name});
  return none;
}

// The query for its counts alone, which cover the matches of its words.
index::ShardQuery counting(index::ShardQuery query) {
  if (query.text) {
    query.vector.reset();
    query.expand = {};
  }
  query.k = 1;
  query.offset = 0;
  return query;
}

// A user who chooses another value of a filtered facet replaces the present one, so the counts of
// that facet ignore its own filter.
Status count_own_facets(const Searched& searched, const index::ShardQuery& asked,
                        index::ShardHits& hits) {
  for (index::FacetCounts& facet : hits.facets) {
    index::ShardQuery query = counting(asked);
    const auto removed = std::erase_if(query.scope.filters, [&](const index::Filter& filter) {
      return filter.name == facet.name;
    });
    if (removed == 0) continue;
    query.count = false;
    query.facets = {facet.name};
    KIN_TRY(index::ShardHits counted, searched.search(query, nullptr));
    facet = std::move(counted.facets.front());
  }
  return Done{};
}

}  // namespace

double alpha_for(embed::EmbedderKind kind) {
  using embed::EmbedderKind;
  if (kind == EmbedderKind::kHttp || kind == EmbedderKind::kGiven) return 0.5;
  return kind == EmbedderKind::kModel2Vec ? 0.4 : 0.2;
}

Result<Found> find(const Searched& searched, const SearchSettings& settings,
                   const Question& question) {
  if (!question.pipeline.empty()) {
    KIN_TRY(ReadyStages ready, make_stages(searched, settings, question));
    Showing showing{.explain = question.explain && ready.by_words};
    if (question.show) showing.marks = ready.marked;
    KIN_TRY(index::ShardHits hits, searched.run(ready.stages, &showing));
    return Found{.hits = std::move(hits),
                 .words = std::move(ready.words),
                 .marks = std::move(ready.marks),
                 .by_words = ready.by_words,
                 .mode = "pipeline"};
  }
  const Mode mode = mode_of(searched, settings, question);
  if (mode != Mode::kGraph && is_common(settings, question))
    return Found{.hits = nothing(question), .mode = std::string(name_of(mode))};
  KIN_TRY(ReadyQuery ready, make_query(searched, settings, question, mode));
  // Hits by meaning and links are open-ended, so they are not counted.
  ready.query.words_only = ready.query.text.has_value();
  Showing showing;
  if (question.show) showing.marks = ready.marked;
  showing.explain = question.explain && ready.query.text.has_value();
  KIN_TRY(index::ShardHits hits, searched.search(ready.query, &showing));
  KIN_RETURN_IF_ERROR(count_own_facets(searched, ready.query, hits));
  return Found{.hits = std::move(hits),
               .words = std::move(ready.words),
               .marks = std::move(ready.marks),
               .by_words = ready.query.text.has_value(),
               .mode = std::string(name_of(mode))};
}

AnswerReason reason_of(std::span<const index::LegScore> legs, const index::TextExplanation* words) {
  AnswerReason why;
  for (const index::LegScore& leg : legs)
    if (leg.leg == index::LegKind::kVector) why.similarity = leg.score;
  if (words == nullptr) return why;
  for (const index::TermExplanation& term : words->terms)
    why.terms.push_back({term.term, term.score, term.frequency, term.documents});
  return why;
}

MarkedText marked(const index::HitSnippet& snippet) {
  MarkedText parts;
  const std::string_view text = snippet.part;
  const auto add = [&](std::size_t from, std::size_t to, bool mark) {
    if (from < to) parts.push_back({std::string(text.substr(from, to - from)), mark});
  };
  // An ellipsis where the part begins or ends inside the field.
  if (snippet.begin > 0) parts.push_back({"… ", false});
  std::size_t at = 0;
  for (const index::TextRange& range : snippet.marks) {
    add(at, range.begin, false);
    add(range.begin, range.end, true);
    at = range.end;
  }
  add(at, text.size(), false);
  if (!snippet.ends_field) parts.push_back({" …", false});
  return parts;
}

}  // namespace kin::search
