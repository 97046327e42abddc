#include <fmt/format.h>

#include "app/checks.h"
#include "app/command.h"
#include "app/dashed_words.h"
#include "app/options.h"
#include "app/print.h"
#include "app/remote_api.h"
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
  kindred search papers tides -lakes
  kindred search papers tydes --fuzzy 1
  kindred search papers "tides" --filter tag=sea --filter year=1966 --as-of 1970-01-01
  kindred search papers "tides" --mode vector --k 50 --json
  kindred search papers "tides" --expand 1 --edge cites
  kindred search papers CACM-0001 --mode graph --expand 2
  kindred search papers CACM-0001 --mode graph --to CACM-0042
  kindred search papers --pipeline '[{"find": "vector", "q": "tides", "k": 200}, {"expand": 1}, {"limit": 10}]'
  kindred search papers --queries queries.jsonl --qrels qrels.tsv -o run.jsonl
  kindred search papers "tides" --at 127.0.0.1:8723

TEXT is a list of words, or a query:
  a AND b, a OR b, NOT c, (…), +a -b   "a phrase"   begin*   w?ld*   word~1   title:word   tag:value
Write -- before words that look like an option: kindred search papers tides -- -oceans.
A filter is NAME=VALUE. NAME is tag, source, type, id or an attribute. A document must match one value of each
NAME that is given.)";

struct SearchArguments {
  IndexFlags place;
  AtFlags at;
  std::vector<std::string> words;
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
  std::string to;
  bool json = false;
};

// Parses `given`, which is JSON or the name of a JSON file.
Result<data::JsonValue> json_in(const std::string& given, const char* option) {
  std::string text = given;
  // A list or an object is JSON, anything else the name of a file.
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
    return Error{Code::kInvalidArgument, "--vector: not a JSON list of numbers"};
  return Done{};
}

Status add_pipeline(const std::string& given, Question& question) {
  KIN_TRY(data::JsonValue stages, json_in(given, "--pipeline"));
  data::JsonValue::Object whole;
  // Read as a part of a question, so that the API and the command line have one parser.
  whole.emplace_back("pipeline", std::move(stages));
  KIN_TRY(Question parsed, search::question_of(data::JsonValue(std::move(whole))));
  question.pipeline = std::move(parsed.pipeline);
  return Done{};
}

Status check_together(const SearchArguments& arguments) {
  const Question& question = arguments.question;
  const bool asks = !question.text.empty() || !question.vector.empty() || !question.from.empty() ||
                    !question.pipeline.empty();
  if (!arguments.queries.empty() && asks)
    return Error{Code::kInvalidArgument,
                 "--queries cannot be combined with TEXT, --vector, --from or --pipeline"};
  if (!arguments.queries.empty()) return Done{};
  if (!asks && question.scope.filters.empty())
    return Error{Code::kInvalidArgument,
                 "nothing to search for: give TEXT, --vector, --from, --pipeline, --filter or "
                 "--queries FILE"};
  if (!arguments.run.output.empty() || !arguments.run.judgements.empty())
    return Error{
        Code::kInvalidArgument,
        "-o and --qrels need --queries FILE (to exclude a word that begins with o, write -- "
        "before it: kindred search INDEX tides -- -oceans)"};
  return Done{};
}

Status check_path(const SearchArguments& arguments) {
  if (arguments.to.empty()) return Done{};
  const std::size_t starts = arguments.question.from.size() + (arguments.words.empty() ? 0 : 1);
  if (arguments.question.mode == search::Mode::kGraph && starts == 1) return Done{};
  return Error{Code::kInvalidArgument,
               "--to needs --mode graph and one document to start from: kindred search INDEX ID "
               "--mode graph --to ID"};
}

Status understand(SearchArguments& arguments) {
  Question& question = arguments.question;
  question.text = join_words(arguments.words);
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
  KIN_TRY(question.expand.direction, search::direction_named(arguments.direction));
  KIN_RETURN_IF_ERROR(check_path(arguments));
  return check_together(arguments);
}

search::PathQuestion path_question(const SearchArguments& arguments) {
  const Question& question = arguments.question;
  return {.from = question.from.empty() ? question.text : question.from.front(),
          .to = arguments.to,
          .direction = question.expand.direction,
          .edges = question.expand.edges.names,
          .as_of = question.scope.as_of};
}

Result<int> run_path(const SearchArguments& arguments, const search::SearchIndex& index) {
  const search::PathQuestion path = path_question(arguments);
  KIN_TRY(const auto found, index.path(path));
  return print_result(arguments.json ? search::to_json(found) + "\n" : path_to_words(found, path));
}

Result<int> run_one(const SearchArguments& arguments, const search::SearchIndex& index) {
  KIN_TRY(const search::Answer answer, index.search(arguments.question));
  return print_result(arguments.json ? search::to_json(answer) + "\n"
                                     : to_words(answer, arguments.question.offset));
}

std::optional<search::Path> path_of(const data::JsonValue& json) {
  if (json.is_null()) return {};
  search::Path path;
  for (const data::JsonValue& node : json["nodes"].items())
    path.nodes.push_back(
        {.id = std::string(node["id"].text()), .title = std::string(node["title"].text())});
  for (const data::JsonValue& edge : json["edges"].items()) {
    const double* weight = edge["weight"].number();
    path.edges.push_back({.from = std::string(edge["from"].text()),
                          .to = std::string(edge["to"].text()),
                          .name = std::string(edge["name"].text()),
                          .weight = weight == nullptr ? 1 : *weight});
  }
  return path;
}

Result<int> run_remote_path(const SearchArguments& arguments, RemoteApi& api) {
  const search::PathQuestion path = path_question(arguments);
  std::string edges;
  for (const std::string& name : path.edges) edges += (edges.empty() ? "" : ",") + name;
  const std::string asked =
      fmt::format("{}/path?from={}&to={}&direction={}&edges={}&as_of={}",
                  index_path(arguments.place.name), escaped(path.from), escaped(path.to),
                  arguments.direction, escaped(edges), escaped(arguments.as_of));
  KIN_TRY(const std::string text, api.get(asked));
  if (arguments.json) return print_result(text + "\n");
  KIN_TRY(const data::JsonValue json, data::parse_json(text));
  return print_result(path_to_words(path_of(json["path"]), path));
}

Result<int> run_all(SearchArguments& arguments, const Ask& ask) {
  arguments.run.queries = arguments.queries;
  arguments.run.question = arguments.question;
  arguments.run.json = arguments.json;
  return run_queries(arguments.run, ask);
}

// Asks a router or a server instead of opening the index.
Result<int> run_remote(SearchArguments& arguments, Verb verb) {
  const auto api = RemoteApi::open(arguments.at);
  if (!api) return wrong_usage(api.error(), verb);
  if (!arguments.to.empty()) return run_remote_path(arguments, **api);
  const auto ask = [&](const Question& question) {
    return (*api)->post(index_path(arguments.place.name) + "/search", search::to_json(question));
  };
  if (!arguments.queries.empty())
    return run_all(arguments, [&](const Question& question) -> Result<search::Answer> {
      KIN_TRY(const std::string text, ask(question));
      KIN_TRY(const data::JsonValue json, data::parse_json(text));
      return search::answer_of(json);
    });
  KIN_TRY(const std::string text, ask(arguments.question));
  if (arguments.json) return print_result(text + "\n");
  KIN_TRY(const data::JsonValue json, data::parse_json(text));
  return print_result(to_words(search::answer_of(json), arguments.question.offset));
}

Result<int> run_search(SearchArguments& arguments, Verb verb) {
  if (const Status understood = understand(arguments); !understood.ok())
    return wrong_usage(understood.error(), verb);
  if (!arguments.at.at.empty()) return run_remote(arguments, verb);
  KIN_TRY(const auto indexes, open_indexes(arguments.place.data, {}));
  KIN_TRY(const auto index, indexes->open(arguments.place.name));
  if (!arguments.to.empty()) return run_path(arguments, *index);
  if (arguments.queries.empty()) return run_one(arguments, *index);
  return run_all(arguments, [&](const Question& question) { return index->search(question); });
}

void add_asking(Verb verb, SearchArguments& arguments) {
  Question& question = arguments.question;
  verb.add_option("--mode", arguments.mode,
                  "text, vector, hybrid or graph (default: hybrid where the index has vectors)")
      .type_name("text|vector|hybrid|graph")
      .check(one_of({"text", "vector", "hybrid", "graph"}));
  with_count(verb.add_option("-k,--k", question.k, "Number of results"), 1, search::kMostHits);
  verb.add_option("--offset", question.offset, "Number of results to skip")
      .type_name("N")
      .check(whole_number(0, 100'000));
  verb.add_option("--filter", arguments.filters, "Only documents with this value; may be repeated")
      .type_name("NAME=VALUE")
      .no_extra_args();
  verb.add_option("--as-of", arguments.as_of, "Only documents and links valid at this time")
      .type_name("TIME");
  verb.add_option("--fuzzy", question.fuzzy, "Number of letters by which words may differ")
      .type_name("0..2")
      .check(whole_number(0, 2));
  verb.add_flag("--plain", question.plain, "Take the text as words, without the query language");
  verb.add_option("--vector", arguments.vector,
                  "Vector to search by instead of the text: JSON, or a JSON file")
      .type_name("JSON");
  verb.add_option("--space", question.space, "Space of the vectors, if the index has several")
      .type_name("NAME");
  verb.add_option("--alpha", arguments.alpha,
                  "Weight of vectors in hybrid mode, from 0 to 1 (default: depends on the index)")
      .type_name("0..1")
      .check(number(0, 1));
  with_choice(
      verb.add_option("--fusion", arguments.fusion,
                      "How hybrid mode combines scores: alpha (weighted sum) or rrf (ranks)"),
      {"alpha", "rrf"});
  verb.add_flag("--exact", question.exact,
                "Compare with every vector instead of the nearest cells");
}

void add_links(Verb verb, SearchArguments& arguments) {
  Question& question = arguments.question;
  verb.add_option("--expand", question.expand.hops, "Add documents up to this many links away")
      .type_name("HOPS")
      .check(whole_number(0, 8));
  verb.add_option("--edge", question.expand.edges.names,
                  "Follow only links of this name; may be repeated")
      .type_name("NAME")
      .no_extra_args();
  with_choice(verb.add_option("--direction", arguments.direction,
                              "Direction in which links are followed: out, in or both"),
              {"out", "in", "both"});
  verb.add_option("--from", question.from, "Mode graph: start from this document; may be repeated")
      .type_name("ID")
      .no_extra_args();
  verb.add_option("--to", arguments.to, "Mode graph: print the shortest path to this document")
      .type_name("ID");
  verb.add_option("--pipeline", arguments.pipeline,
                  "Stages as JSON, or a JSON file: see docs/api.md")
      .type_name("JSON");
}

void add_output(Verb verb, SearchArguments& arguments) {
  verb.add_option("--facet", arguments.question.facets,
                  "Count values: tag, type, source, attribute or validity; may be repeated")
      .type_name("NAME")
      .no_extra_args();
  verb.add_flag("--explain", arguments.question.explain, "Show why each result matched");
  verb.add_flag("--json", arguments.json, "Print JSON");
  verb.add_option("--queries", arguments.queries,
                  "Run many queries of plain words: JSONL with id and text")
      .type_name("FILE");
  verb.add_option("-o,--output", arguments.run.output,
                  "Write the hits of each query to this file, as JSONL")
      .type_name("FILE");
  verb.add_option("--qrels", arguments.run.judgements,
                  "Judgements (query, document, grade): prints nDCG@10, MAP and recall@100")
      .type_name("FILE");
}

}  // namespace

Command add_search_command(Verb app) {
  const Verb verb = app.add_subcommand("search", "Search an index by words, meaning and links");
  verb.footer(kExamples);
  const auto arguments = std::make_shared<SearchArguments>();
  verb.add_option("INDEX", arguments->place.name, "The name of the index").required();
  verb.add_option("TEXT", arguments->words, "Words to search for, or a query in quotes");
  add_asking(verb, *arguments);
  add_links(verb, *arguments);
  add_output(verb, *arguments);
  add_data_flag(verb, arguments->place.data);
  add_at_flags(verb, arguments->at);
  return {.verb = verb,
          .run = [=]() -> Result<int> { return run_search(*arguments, verb); },
          .takes_dashed_words = true};
}

}  // namespace kin::app
