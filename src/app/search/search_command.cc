#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/checks.h"
#include "app/command.h"
#include "app/print.h"
#include "app/search/index_flags.h"
#include "app/search/print.h"
#include "app/search/run.h"
#include "base/file.h"
#include "data/json_value.h"

namespace kin::app {
namespace {

using search::Question;

constexpr const char* kExamples = R"(
Examples:
  kindred search papers "tides of the inner sea"
  kindred search papers 'title:tides AND "inner sea" -lakes'
  kindred search papers tydes --fuzzy 1
  kindred search papers "tides" --filter tag=sea --filter year=1966 --as-of 1970-01-01
  kindred search papers "tides" --mode vector --k 50 --json
  kindred search papers "tides" --expand 1 --edge cites
  kindred search papers CACM-0001 --mode graph --expand 2
  kindred search papers --pipeline '[{"find": "vector", "q": "tides", "k": 200}, {"expand": 1}, {"limit": 10}]'
  kindred search papers --queries queries.jsonl --qrels qrels.tsv -o run.jsonl

The text may be plain words, or use the language of queries:
  a AND b, a OR b, NOT c, (…), +a -b   "a phrase"   begin*   w?ld*   word~1   title:word   tag:value
A filter is NAME=VALUE: tag, source, type, id, or any attribute; of one name any, of all names each must hold.)";

struct SearchArguments {
  IndexFlags place;
  std::string text;
  Question question;
  std::string mode;
  std::vector<std::string> filters;
  std::string as_of;
  std::string vector;
  std::string direction = "both";
  std::string fusion = "alpha";
  std::string pipeline;
  std::optional<double> alpha;
  SearchRun run;
  std::string queries;
  bool json = false;
};

// JSON that was given as it is, or the name of a file that has it.
Result<data::JsonValue> json_in(const std::string& given, const char* option) {
  std::string text = given;
  if (!given.starts_with('[') && !given.starts_with('{')) {
    KIN_TRY(text, read_file(given));
  }
  auto json = data::parse_json(text);
  if (!json) return with_context(option, json.error());
  return json;
}

Status add_filters(const std::vector<std::string>& texts, Question& question) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
      return Error{Code::kInvalidArgument,
                   fmt::format("--filter {}: write NAME=VALUE, such as tag=sea", text)};
    question.scope.filters.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return Done{};
}

Status add_vector(const std::string& given, Question& question) {
  KIN_TRY(const data::JsonValue json, json_in(given, "--vector"));
  for (const data::JsonValue& item : json.items()) {
    if (item.number() == nullptr) break;
    question.vector.push_back(static_cast<float>(*item.number()));
  }
  if (question.vector.empty() || question.vector.size() != json.items().size())
    return Error{Code::kInvalidArgument, "--vector: it is no list of numbers"};
  return Done{};
}

Status add_pipeline(const std::string& given, Question& question) {
  KIN_TRY(data::JsonValue stages, json_in(given, "--pipeline"));
  data::JsonValue::Object whole;
  whole.emplace_back("pipeline", std::move(stages));
  KIN_TRY(Question parsed, search::question_of(data::JsonValue(std::move(whole))));
  question.pipeline = std::move(parsed.pipeline);
  return Done{};
}

// What goes with --queries, and what instead of it.
Status check_together(const SearchArguments& arguments) {
  const Question& question = arguments.question;
  const bool asks = !question.text.empty() || !question.vector.empty() || !question.from.empty() ||
                    !question.pipeline.empty();
  if (!arguments.queries.empty() && asks)
    return Error{Code::kInvalidArgument,
                 "--queries has the texts: leave out TEXT, --vector, --from and --pipeline"};
  if (!arguments.queries.empty()) return Done{};
  if (!asks && question.scope.filters.empty())
    return Error{Code::kInvalidArgument, "say what to look for, or give --queries FILE"};
  if (!arguments.run.output.empty() || !arguments.run.judgements.empty())
    return Error{Code::kInvalidArgument, "-o and --qrels go with --queries FILE"};
  return Done{};
}

Status understand(SearchArguments& arguments) {
  Question& question = arguments.question;
  question.text = arguments.text;
  if (!arguments.mode.empty()) {
    KIN_TRY(question.mode, search::mode_named(arguments.mode));
  }
  KIN_RETURN_IF_ERROR(add_filters(arguments.filters, question));
  if (!arguments.as_of.empty()) {
    const auto moment = search::moment_of(arguments.as_of);
    if (!moment) return with_context("--as-of", moment.error());
    question.scope.as_of = *moment;
  }
  if (!arguments.vector.empty()) KIN_RETURN_IF_ERROR(add_vector(arguments.vector, question));
  if (!arguments.pipeline.empty()) KIN_RETURN_IF_ERROR(add_pipeline(arguments.pipeline, question));
  question.alpha = arguments.alpha;
  if (arguments.fusion == "rrf") question.fusion = index::Fusion::kRrf;
  if (arguments.direction == "out") question.expand.direction = index::Direction::kOut;
  if (arguments.direction == "in") question.expand.direction = index::Direction::kIn;
  return check_together(arguments);
}

Result<int> run_one(const SearchArguments& arguments, const search::SearchIndex& index) {
  KIN_TRY(const search::Answer answer, index.search(arguments.question));
  KIN_RETURN_IF_ERROR(print(arguments.json ? search::to_json(answer) + "\n"
                                           : to_words(answer, arguments.question.offset)));
  return kDone;
}

Result<int> run_search(SearchArguments& arguments, const CLI::App& verb) {
  if (const Status understood = understand(arguments); !understood.ok())
    return wrong_usage(understood.error(), verb);
  KIN_TRY(const auto library, open_library(arguments.place.data, {}));
  KIN_TRY(const auto index, library->open(arguments.place.name));
  if (arguments.queries.empty()) return run_one(arguments, *index);
  arguments.run.queries = arguments.queries;
  arguments.run.question = arguments.question;
  arguments.run.json = arguments.json;
  return run_queries(arguments.run, *index);
}

void add_asking(CLI::App& verb, SearchArguments& arguments) {
  Question& question = arguments.question;
  verb.add_option("--mode", arguments.mode,
                  "text, vector, hybrid or graph (default: hybrid where the index has vectors)")
      ->check(one_of({"text", "vector", "hybrid", "graph"}));
  verb.add_option("-k,--k", question.k, "How many results")
      ->type_name("N")
      ->check(whole_number(1, search::kMostHits))
      ->capture_default_str();
  verb.add_option("--offset", question.offset, "How many to leave out in front")
      ->type_name("N")
      ->check(whole_number(0, 100'000));
  verb.add_option("--filter", arguments.filters, "Only documents that have this; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  verb.add_option("--as-of", arguments.as_of, "Only what was valid then")->type_name("TIME");
  verb.add_option("--fuzzy", question.fuzzy, "Letters by which words may differ")
      ->type_name("0..2")
      ->check(whole_number(0, 2));
  verb.add_flag("--plain", question.plain, "Take the text as words, without the query language");
  verb.add_option("--vector", arguments.vector,
                  "Numbers to search near instead of the text: JSON, or a file of it")
      ->type_name("JSON");
  verb.add_option("--space", question.space, "Which vectors, if the index has several")
      ->type_name("NAME");
  verb.add_option("--alpha", arguments.alpha,
                  "How much meaning counts in hybrid, from 0 to 1 (default: what suits the index)")
      ->type_name("0..1")
      ->check(number(0, 1));
  verb.add_option("--fusion", arguments.fusion, "How hybrid joins: alpha, or rrf (by ranks)")
      ->check(one_of({"alpha", "rrf"}))
      ->capture_default_str();
  verb.add_flag("--exact", question.exact, "Compare with every vector");
}

void add_links(CLI::App& verb, SearchArguments& arguments) {
  Question& question = arguments.question;
  verb.add_option("--expand", question.expand.hops, "Add neighbours so many links away")
      ->type_name("HOPS")
      ->check(whole_number(0, 8));
  verb.add_option("--edge", question.expand.edges.names, "Only links of this name; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb.add_option("--direction", arguments.direction, "Which way links are followed")
      ->check(one_of({"out", "in", "both"}))
      ->capture_default_str();
  verb.add_option("--from", question.from, "Mode graph: where to begin; may be repeated")
      ->type_name("ID")
      ->allow_extra_args(false);
  verb.add_option("--pipeline", arguments.pipeline,
                  "Stages as JSON, or a file of it: see docs/api.md")
      ->type_name("JSON");
}

void add_output(CLI::App& verb, SearchArguments& arguments) {
  verb.add_option("--facet", arguments.question.facets,
                  "Count the values of this: tag, type, source, validity; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb.add_flag("--explain", arguments.question.explain, "Say why each result matched");
  verb.add_flag("--json", arguments.json, "Print JSON");
  verb.add_option("--queries", arguments.queries,
                  "Many queries, of plain words: JSONL with id and text")
      ->type_name("FILE");
  verb.add_option("-o,--output", arguments.run.output, "One line for each query, with its hits")
      ->type_name("FILE");
  verb.add_option("--qrels", arguments.run.judgements,
                  "Judgements (query, document, grade): prints nDCG@10, MAP and recall@100")
      ->type_name("FILE");
}

}  // namespace

Command add_search_command(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("search", "Search an index by words, meaning and links");
  verb->footer(kExamples);
  const auto arguments = std::make_shared<SearchArguments>();
  verb->add_option("INDEX", arguments->place.name, "The name of the index")->required();
  verb->add_option("TEXT", arguments->text, "What to look for");
  add_asking(*verb, *arguments);
  add_links(*verb, *arguments);
  add_output(*verb, *arguments);
  add_data_flag(*verb, arguments->place.data);
  return {verb, [=]() -> Result<int> { return run_search(*arguments, *verb); }};
}

}  // namespace kin::app
