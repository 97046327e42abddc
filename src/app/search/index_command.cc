#include <fmt/format.h>

#include <functional>

#include "app/checks.h"
#include "app/command.h"
#include "app/options.h"
#include "app/print.h"
#include "app/progress_line.h"
#include "app/search/index_arguments.h"
#include "app/search/index_report.h"
#include "app/search/remote_index.h"
#include "app/words.h"
#include "base/locked_folder.h"

namespace kin::app {
namespace {

using search::Document;
using search::IndexConfig;
using search::SearchIndex;

constexpr const char* kExamples = R"(
Examples:
  kindred index create papers
  kindred index add papers papers.jsonl
  kindred search papers "tides of the inner sea"
  kindred index create faces --dim 512 --distance l2
  kindred index create corpus --dedup refuse
  kindred index list
  kindred index check papers

An index can be searched by words, by meaning and by links. `kindred index VERB --help` shows the options of a verb.)";

constexpr const char* kCreateExamples = R"(
Examples:
  kindred index create papers
  kindred index create papers --embed none
  kindred index create papers --embed words
  kindred index create papers --embed model2vec:models/potion-base-4m-int8
  kindred index create papers --embed http:http://localhost:8080/v1#all-minilm
  kindred index create faces --dim 512 --distance l2
  kindred index create scenes --dim 512 --space audio:128:cosine
  kindred index create corpus --dedup link --threshold 0.85
  kindred index create papers --embed none --partitions 64 --at 127.0.0.1:8723
  kindred index create papers --sample papers.jsonl --at 127.0.0.1:8723

Sources of vectors (--embed):
  corpus           learnt from the documents, and again as these grow or change (the default)
  words            weighted mean of word vectors
  model2vec:DIR    a model2vec model: config.json, tokenizer.json, model.safetensors
  http:URL#MODEL   a server that speaks OpenAI's /embeddings; its key is $KINDRED_EMBED_KEY
  given            the column "embedding" of the documents; --dim is its length
  none             no vectors: search by words and links only)";

constexpr const char* kAddExamples = R"(
Examples:
  kindred index add papers papers.jsonl
  kindred index add papers 'parts-*.parquet'
  zcat dump.jsonl.gz | kindred index add papers -
  kindred index add papers papers.jsonl --at 127.0.0.1:8723

Columns: id, title, text, tags, links, embedding, valid_from, valid_until, published, source, summary,
summaries, fragments; all others are kept as attributes. Only id is needed.
  links      ids of other documents, or {"to", "name", "weight", "summary"}; {"to", "name", "until"} ends a link
  fragments  [{"time", "text"}, …]: things said about the document, each found on its own
A document with a known id replaces the old one. Documents are durable and found by searches at once; the command
then waits until vectors are learnt and background work is done (--no-wait leaves that to the next command).)";

// NAME:DIM[:DISTANCE]
Result<search::SpaceConfig> space_of(const std::string& text) {
  const std::size_t first = text.find(':');
  const std::size_t second =
      std::min(text.find(':', std::min(first, text.size() - 1) + 1), text.size());
  if (first == std::string::npos || first == 0)
    return Error{Code::kInvalidArgument,
                 fmt::format("--space {}: write NAME:DIM or NAME:DIM:DISTANCE", text)};
  search::SpaceConfig space{.name = text.substr(0, first)};
  const std::string dimension = text.substr(first + 1, second - first - 1);
  if (const std::string wrong = whole_number(1, index::kMostDimensions)(dimension); !wrong.empty())
    return Error{Code::kInvalidArgument, fmt::format("--space {}: {}", text, wrong)};
  space.dimension = static_cast<std::uint32_t>(std::stoul(dimension));
  if (second < text.size()) {
    KIN_TRY(space.distance, search::distance_named(text.substr(second + 1)));
  }
  return space;
}

Result<IndexConfig> config_of(const IndexArguments& arguments) {
  IndexConfig config{.language = arguments.language};
  KIN_RETURN_IF_ERROR(search::choose_vectors(config, arguments.embed, arguments.dimension));
  config.main.bits = static_cast<std::uint8_t>(arguments.bits);
  KIN_TRY(config.main.distance, search::distance_named(arguments.distance));
  if (!arguments.storage.empty()) {
    KIN_TRY(config.main.storage, search::storage_named(arguments.storage));
  }
  for (const std::string& text : arguments.spaces) {
    KIN_TRY(search::SpaceConfig space, space_of(text));
    space.bits = config.main.bits;
    config.more.push_back(std::move(space));
  }
  if (!arguments.dedup.empty()) {
    config.dedup = index::NearDuplicateOptions{.threshold = arguments.threshold};
    KIN_TRY(config.dedup->action, search::action_named(arguments.dedup));
  }
  KIN_RETURN_IF_ERROR(search::check(config));
  return config;
}

Result<int> run_create(const IndexArguments& arguments, Verb verb) {
  const Status named = search::check_name(arguments.place.name);
  if (!named.ok()) return wrong_usage(named.error(), verb);
  const auto config = config_of(arguments);
  if (!config) return wrong_usage(config.error(), verb);
  if (!arguments.at.at.empty()) {
    const auto api = RemoteApi::open(arguments.at);
    if (!api) return wrong_usage(api.error(), verb);
    return create_remote(arguments, *config, **api);
  }
  if (arguments.partitions > 0 || !arguments.sample.empty())
    return wrong_usage(
        {Code::kInvalidArgument, "--partitions and --sample need --at: the address of a router"},
        verb);
  KIN_TRY(const auto indexes, open_indexes(arguments.place.data, {}));
  const Status made = indexes->create(arguments.place.name, *config);
  // For example a model that does not exist.
  if (!made.ok() && made.error().code == Code::kInvalidArgument)
    return wrong_usage(made.error(), verb);
  KIN_RETURN_IF_ERROR(made);
  return print_created(arguments);
}

Status add_files(const IndexArguments& arguments, SearchIndex& index, Adding& adding,
                 const std::atomic<bool>& stop) {
  const ProgressLine line([&](double seconds) { return progress_text(adding, seconds); },
                          !arguments.json);
  const auto take = [&](std::span<const Document> documents) -> Status {
    // Between two batches, because each batch is added as a whole.
    if (stop) return Error{Code::kCancelled, "stopped"};
    KIN_TRY(search::AddReport report, index.add(documents));
    adding.added += report.added;
    std::ranges::move(report.refused, std::back_inserter(adding.refused));
    std::ranges::move(report.linked, std::back_inserter(adding.linked));
    return Done{};
  };
  KIN_RETURN_IF_ERROR(search::read_documents(arguments.files, adding.files, take));
  if (arguments.no_wait) return Done{};
  adding.waiting = true;
  return index.wait_until_idle([&] { return stop.load(); });
}

Result<int> run_add(IndexArguments& arguments, Verb verb) {
  arguments.files.skip_errors = arguments.on_error == "skip";
  if (!arguments.at.at.empty()) {
    const auto api = RemoteApi::open(arguments.at);
    if (!api) return wrong_usage(api.error(), verb);
    return add_remote(arguments, **api);
  }
  KIN_TRY(const auto indexes, open_indexes(arguments.place.data, {.tend = true}));
  KIN_TRY(const auto index, indexes->open(arguments.place.name));
  KIN_TRY(const LockedFolder spool, LockedFolder::create());
  arguments.files.temporary_folder = spool.path();
  // The reader knows the line, so its error can name the invalid document.
  arguments.files.check = [&](const Document& document) { return index->check_document(document); };
  std::atomic<bool> stop{false};
  const StopSignals signals(stop);
  Adding adding;
  const Status read = add_files(arguments, *index, adding, stop);
  // A closed index cannot be queried.
  const std::uint64_t held = index->info().stats.counters.entities;
  KIN_RETURN_IF_ERROR(indexes->close());
  if (!read.ok() && !signals.exit_code()) {
    if (adding.added > 0)
      say(fmt::format("kindred: the {} documents before it were added\n",
                      with_commas(adding.added)));
    return read.error();
  }
  const AddedReport report{.name = arguments.place.name,
                           .added = adding.added,
                           .skipped = adding.files.skipped,
                           .holds = held,
                           .refused = std::move(adding.refused),
                           .linked = std::move(adding.linked)};
  KIN_RETURN_IF_ERROR(print(arguments.json ? to_json(report) + "\n" : to_words(report)));
  if (!signals.exit_code()) return kDone;
  say("kindred: stopped; the documents added so far are kept\n");
  return *signals.exit_code();
}

Result<int> run_list(const IndexArguments& arguments) {
  KIN_TRY(const auto indexes, open_indexes(arguments.place.data, {}));
  KIN_TRY(const std::vector<ListedIndex> listed, indexes->list());
  return print_result(arguments.json ? to_json(listed) + "\n" : to_table(listed));
}

Result<int> run_stats(const IndexArguments& arguments) {
  KIN_TRY(const auto indexes, open_indexes(arguments.place.data, {}));
  KIN_TRY(const auto index, indexes->open(arguments.place.name));
  const ListedIndex listed{.name = arguments.place.name, .info = index->info(), .problem = {}};
  return print_result(arguments.json ? to_json(listed) + "\n" : to_words(listed));
}

Result<int> run_drop(const IndexArguments& arguments) {
  KIN_TRY(const auto indexes, open_indexes(arguments.place.data, {}));
  KIN_RETURN_IF_ERROR(indexes->drop(arguments.place.name));
  return print_dropped(arguments);
}

Result<int> run_delete(const IndexArguments& arguments) {
  KIN_TRY(const auto indexes, open_indexes(arguments.place.data, {}));
  KIN_TRY(const auto index, indexes->open(arguments.place.name));
  KIN_TRY(const std::uint64_t removed, index->remove(arguments.ids));
  KIN_RETURN_IF_ERROR(indexes->close());
  return print_deleted(arguments, removed);
}

Result<int> run_check(const IndexArguments& arguments) {
  KIN_TRY(const auto indexes, open_indexes(arguments.place.data, {}));
  KIN_TRY(const auto index, indexes->open(arguments.place.name));
  std::atomic<double> done{0};
  // The progress line ends before the report is printed.
  const Result<index::CheckReport> report = [&] {
    const ProgressLine line(
        [&](double seconds) {
          return fmt::format("checking  {:.0f} %  {}", 100 * done.load(), short_duration(seconds));
        },
        !arguments.json);
    return index->check([&](double share) { done = share; });
  }();
  if (!report) return report.error();
  return print_checked(arguments, *report);
}

Result<int> run_export(const IndexArguments& arguments) {
  KIN_TRY(const auto indexes, open_indexes(arguments.place.data, {}));
  KIN_TRY(const auto index, indexes->open(arguments.place.name));
  return export_documents(arguments, [&](const Visit& visit) { return index->each(visit); });
}

using LocalRun = Result<int> (*)(const IndexArguments&);
using RemoteRun = Result<int> (*)(const IndexArguments&, RemoteApi&);
// On this machine's index, or on that of --at.
Result<int> run_either(const IndexArguments& arguments, Verb verb, LocalRun local,
                       RemoteRun remote) {
  if (arguments.at.at.empty()) return local(arguments);
  const auto api = RemoteApi::open(arguments.at);
  if (!api) return wrong_usage(api.error(), verb);
  return remote(arguments, **api);
}

void add_json(Verb verb, IndexArguments& arguments) {
  verb.add_flag("--json", arguments.json, "Print JSON");
}

Verb add_create(Verb index, IndexArguments& arguments) {
  const Verb verb = index.add_subcommand("create", "Create an empty index");
  verb.footer(kCreateExamples);
  add_index_flags(verb, arguments.place);
  verb.add_option("--embed", arguments.embed,
                  "Source of the vectors (default: corpus, or given with --dim)")
      .type_name("MODEL");
  verb.add_option("--dim", arguments.dimension,
                  "Dimension of the vectors that come with the documents")
      .type_name("N")
      .check(whole_number(1, index::kMostDimensions));
  with_choice(verb.add_option("--distance", arguments.distance,
                              "Distance between vectors: cosine, l2 or dot"),
              {"cosine", "l2", "dot"});
  verb.add_option("--bits", arguments.bits, "Bits per dimension of a vector's code")
      .type_name("1..8")
      .check(whole_number(1, 8))
      .capture_default_str();
  verb.add_option("--vectors", arguments.storage,
                  "Where full vectors are kept: on disk, or in memory as f16 or f32 "
                  "(default: disk for given vectors, else f16)")
      .type_name("disk|f16|f32")
      .check(one_of({"disk", "f16", "f32"}));
  verb.add_option("--space", arguments.spaces,
                  "Another space, for vectors in the column \"embeddings\"; may be repeated")
      .type_name("NAME:DIM[:DISTANCE]")
      .no_extra_args();
  verb.add_option("--language", arguments.language,
                  "Language of the stemmer; \"none\" turns it off")
      .type_name("NAME")
      .capture_default_str();
  verb.add_option("--dedup", arguments.dedup,
                  "Detect near-duplicates, and link them to the first document (the default) or "
                  "refuse them")
      .type_name("link|refuse")
      // --dedup alone means link.
      .expected(0, 1)
      .default_str("link")
      .check(one_of({"link", "refuse"}));
  verb.add_option("--threshold", arguments.threshold, "Least similarity of near-duplicates")
      .type_name("0.3..1")
      .check(number(0.3, 1))
      .capture_default_str();
  verb.add_option("--partitions", arguments.partitions,
                  "Pieces of an index on nodes, of which each node gets some (default: 64)")
      .type_name("N")
      .check(whole_number(1, 65'536));
  verb.add_option("--sample", arguments.sample,
                  "Datasets of documents that an index on nodes learns from: where to place "
                  "documents by their vectors, and the vectors of --embed corpus")
      .type_name("FILE");
  add_at_flags(verb, arguments.at);
  add_json(verb, arguments);
  return verb;
}

Verb add_add(Verb index, IndexArguments& arguments) {
  const Verb verb = index.add_subcommand("add", "Add or replace documents");
  verb.footer(kAddExamples);
  add_index_flags(verb, arguments.place);
  verb.add_option("FILE", arguments.files.files,
                  "Datasets or globs (.jsonl .csv .tsv, also .gz .zst; .parquet); - for JSONL on "
                  "standard input")
      .required();
  with_count(verb.add_option("--batch", arguments.files.batch, "Documents per write"), 1, 10'000);
  with_choice(verb.add_option("--on-error", arguments.on_error,
                              "What to do with an invalid record: fail or skip")
                  .type_name("fail|skip"),
              {"fail", "skip"});
  verb.add_flag("--no-wait", arguments.no_wait, "Do not wait for background work");
  add_at_flags(verb, arguments.at);
  add_json(verb, arguments);
  return verb;
}

Verb add_simple(Verb index, IndexArguments& arguments, const char* name, const char* what,
                const char* examples) {
  const Verb verb = index.add_subcommand(name, what);
  verb.footer(examples);
  add_index_flags(verb, arguments.place);
  add_json(verb, arguments);
  return verb;
}

}  // namespace

Command add_index_command(Verb app) {
  const Verb verb = app.add_subcommand("index", "Create, fill and maintain search indexes");
  verb.footer(kExamples);
  verb.require_subcommand(1, 1);
  const auto arguments = std::make_shared<IndexArguments>();
  const Verb create = add_create(verb, *arguments);
  const Verb add = add_add(verb, *arguments);
  const Verb list = verb.add_subcommand("list", "List the indexes");
  list.footer(
      "\nExamples:\n  kindred index list\n  kindred index list --json\n  kindred index list --at "
      "127.0.0.1:8723");
  add_data_flag(list, arguments->place.data);
  add_json(list, *arguments);
  const Verb stats = add_simple(verb, *arguments, "stats", "Show the size and state of an index",
                          "\nExamples:\n  kindred index stats papers");
  const Verb remove = add_simple(verb, *arguments, "delete", "Delete documents from an index",
                           "\nExamples:\n  kindred index delete papers CACM-0001 CACM-0002");
  remove.add_option("ID", arguments->ids, "Ids of documents").required();
  const Verb check =
      add_simple(verb, *arguments, "check", "Rebuild everything from the documents and compare",
                 "\nExamples:\n  kindred index check papers\n\nPrints the "
                 "differences, and exits with code 1 if there are any.");
  const Verb exported = add_simple(
      verb, *arguments, "export", "Write all documents as JSONL that `kindred index add` reads",
      "\nExamples:\n  kindred index export papers -o papers.jsonl\n  kindred index export papers | "
      "head -n 3");
  exported.add_option("-o,--output", arguments->output, "File to write; - for standard output")
      .type_name("FILE")
      .capture_default_str();
  const Verb drop = add_simple(verb, *arguments, "drop", "Delete an index with all its documents",
                         "\nExamples:\n  kindred index drop papers");
  for (const Verb one : {list, stats, remove, check, exported, drop}) add_at_flags(one, arguments->at);
  return with_verbs(
      verb,
      {{create, [=] { return run_create(*arguments, create); }},
       {add, [=] { return run_add(*arguments, add); }},
       {list, [=] { return run_either(*arguments, list, run_list, list_remote); }},
       {stats, [=] { return run_either(*arguments, stats, run_stats, show_remote_stats); }},
       {remove, [=] { return run_either(*arguments, remove, run_delete, delete_remote); }},
       {check, [=] { return run_either(*arguments, check, run_check, check_remote); }},
       {exported, [=] { return run_either(*arguments, exported, run_export, export_remote); }},
       {drop, [=] { return run_either(*arguments, drop, run_drop, drop_remote); }}});
}

}  // namespace kin::app
