#include <fmt/format.h>

#include <memory>

#include "app/checks.h"
#include "app/command.h"
#include "app/fingerprints/stores.h"
#include "app/options.h"
#include "app/print.h"
#include "base/json_writer.h"
#include "base/time_text.h"

namespace kin::app {
namespace {

using store::LedgerEntry;

constexpr const char* kExamples = R"(
Examples:
  kindred ledger get a1 --source reuters --config kindred.yaml
  kindred ledger list --run monday --status rejected --config kindred.yaml
  kindred ledger list --source reuters --json --config kindred.yaml

The ledger has an entry for each document that a run processed (kindred dedup --config): by which run, when,
and whether it was kept.)";

struct LedgerArguments {
  std::filesystem::path config;
  std::string key;
  std::optional<std::string> source;
  std::optional<std::string> run;
  std::optional<std::string> status;
  bool json = false;
};

std::string shown(const LedgerEntry& entry, bool as_json) {
  if (!as_json) {
    return fmt::format("{}  {:<8}  {}/{}  run {}{}\n", iso_time(entry.at), name_of(entry.outcome),
                       entry.source, entry.key, entry.run,
                       entry.reason.empty() ? "" : ": " + entry.reason);
  }
  JsonWriter json;
  json.begin_object()
      .field("doc", to_string(entry.doc))
      .field("id", entry.key)
      .field("source", entry.source)
      .field("run", entry.run)
      .field("worker", entry.worker)
      .field("row_id", entry.row)
      .field("at", iso_time(entry.at))
      .field("status", name_of(entry.outcome))
      .field("reason", entry.reason)
      .key("duplicate_of");
  if (entry.duplicate_of) {
    json.value(to_string(*entry.duplicate_of));
  } else {
    json.null();
  }
  json.field("method", entry.method)
      .field("similarity", entry.similarity)
      .field("fingerprint_version", entry.version)
      .end();
  return json.take() + "\n";
}

Result<int> get_entry(const LedgerArguments& arguments) {
  KIN_TRY(const StoresConfig config, read_stores_config(arguments.config));
  KIN_TRY(const auto ledger, open_ledger(config, system_clock()));
  const DocId doc = doc_id_of(arguments.source.value_or(""), arguments.key);
  KIN_TRY(const auto entries, ledger->was_processed(std::span(&doc, 1)));
  if (entries[0]) return print_result(shown(*entries[0], arguments.json));
  say(fmt::format("{} was not processed{}\n", arguments.key,
                  arguments.source ? " from " + *arguments.source
                                   : " (name its source with --source, if it has one)"));
  return kFailed;
}

Result<int> list_entries(const LedgerArguments& arguments, Verb verb) {
  if (arguments.source.has_value() == arguments.run.has_value()) {
    return wrong_usage({Code::kInvalidArgument, "use one of --source NAME and --run NAME"}, verb);
  }
  KIN_TRY(const StoresConfig config, read_stores_config(arguments.config));
  KIN_TRY(const auto ledger, open_ledger(config, system_clock()));
  store::ListRequest request;
  if (arguments.status) {
    KIN_TRY(request.outcome, store::parse_outcome(*arguments.status));
  }
  do {
    KIN_TRY(const store::LedgerPage page, arguments.source
                                              ? ledger->list_by_source(*arguments.source, request)
                                              : ledger->list_by_run(*arguments.run, request));
    std::string lines;
    for (const LedgerEntry& entry : page.entries) lines += shown(entry, arguments.json);
    KIN_RETURN_IF_ERROR(print(lines));
    request.after = page.next;
  } while (request.after);
  return kDone;
}

void add_common_flags(Verb verb, LedgerArguments& arguments) {
  verb.add_option("--config", arguments.config, "Settings file of the store")
      .type_name("FILE")
      .required();
  verb.add_option("--source", arguments.source, "Source of the documents").type_name("NAME");
  verb.add_flag("--json", arguments.json, "Print a JSON object a line");
}

}  // namespace

Command add_ledger_command(Verb app) {
  const Verb verb = app.add_subcommand("ledger", "What was processed, by document, source or run");
  verb.footer(kExamples);
  verb.require_subcommand(1, 1);
  const auto arguments = std::make_shared<LedgerArguments>();
  const Verb get = verb.add_subcommand("get", "The entry of a document");
  get.footer("\nExample:\n  kindred ledger get a1 --source reuters --config kindred.yaml");
  get.add_option("KEY", arguments->key, "Id of the document in its source").required();
  add_common_flags(get, *arguments);
  const Verb list = verb.add_subcommand("list", "The entries of a source or a run, by time");
  list.footer(
      "\nExample:\n  kindred ledger list --run monday --status rejected --config kindred.yaml");
  add_common_flags(list, *arguments);
  list.add_option("--run", arguments->run, "Name of the run").type_name("NAME");
  list.add_option("--status", arguments->status, "Only these")
      .type_name("accepted|rejected")
      .check(one_of({"accepted", "rejected"}));
  return with_verbs(verb, {{get, [arguments] { return get_entry(*arguments); }},
                           {list, [arguments, list] { return list_entries(*arguments, list); }}});
}

}  // namespace kin::app
