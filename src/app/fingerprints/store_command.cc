#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.h"
#include "app/fingerprints/stores.h"
#include "app/print.h"
#include "app/words.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "store/exchange.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred store create --config kindred.yaml
  kindred store stats --config kindred.yaml
  kindred store check --config kindred.yaml
  kindred store export backup/ --config kindred.yaml
  kindred store import backup/ --config elsewhere.yaml

A store has the fingerprints of documents that runs kept (kindred dedup --config). docs/operations.md has the
settings file.)";

struct StoreArguments {
  std::filesystem::path config;
  std::filesystem::path folder;  // of exported files
  bool json = false;
};

constexpr const char* kFingerprintsFile = "fingerprints.parquet";
constexpr const char* kLedgerFile = "ledger.parquet";

Result<int> create_store(const StoreArguments& arguments) {
  KIN_TRY(const StoresConfig config, read_stores_config(arguments.config));
  KIN_TRY(const std::string told, create_stores(config, system_clock()));
  if (!arguments.json) return print_result(told + "\n");
  JsonWriter json;
  json.begin_object().field("created", told).end();
  return print_result(json.text() + "\n");
}

Result<int> show_stats(const StoreArguments& arguments) {
  KIN_TRY(const StoresConfig config, read_stores_config(arguments.config));
  KIN_TRY(const OpenedStores stores, open_stores(config, std::nullopt, system_clock()));
  KIN_TRY(const store::FingerprintStats stats, stores.fingerprints->stats());
  if (arguments.json) {
    JsonWriter json;
    json.begin_object()
        .field("documents", stats.documents)
        .field("bytes", stats.bytes)
        .field("capped_keys", stats.capped_keys)
        .field("version", version_of(stats.parameters))
        .key("settings")
        .begin_object();
    for (const auto& [name, value] : stats.parameters.settings) json.field(name, value);
    json.end().field("hamming", stats.parameters.hamming).end();
    return print_result(json.text() + "\n");
  }
  std::string text;
  add_row(text, "documents", with_commas(stats.documents));
  add_row(text, "size", format_bytes(stats.bytes));
  add_row(text, "version", version_of(stats.parameters));
  for (const auto& [name, value] : stats.parameters.settings) add_row(text, name, value);
  if (stats.capped_keys > 0) {
    text +=
        fmt::format("  {} listings were left out, because 1,000 other documents share the key\n",
                    with_commas(stats.capped_keys));
  }
  return print_result(text);
}

Result<int> check_store(const StoreArguments& arguments) {
  KIN_TRY(const StoresConfig config, read_stores_config(arguments.config));
  KIN_TRY(const OpenedStores stores, open_stores(config, std::nullopt, system_clock()));
  KIN_TRY(const std::vector<std::string> faults, stores.fingerprints->check());
  if (arguments.json) {
    JsonWriter json;
    json.begin_object().field("faults", faults).end();
    KIN_RETURN_IF_ERROR(print(json.text() + "\n"));
  } else if (faults.empty()) {
    KIN_RETURN_IF_ERROR(print("every document is found by all of its keys\n"));
  } else {
    for (const std::string& fault : faults) KIN_RETURN_IF_ERROR(print(fault + "\n"));
  }
  return faults.empty() ? kDone : kFailed;
}

struct Exchanged {
  std::uint64_t documents = 0;
  std::uint64_t entries = 0;
};
Result<int> tell(const StoreArguments& arguments, const char* done, const Exchanged& numbers) {
  if (arguments.json) {
    JsonWriter json;
    json.begin_object()
        .field("documents", numbers.documents)
        .field("ledger_entries", numbers.entries)
        .end();
    return print_result(json.text() + "\n");
  }
  return print_result(fmt::format("{} {} documents and {} entries of the ledger: {}\n", done,
                                  with_commas(numbers.documents), with_commas(numbers.entries),
                                  arguments.folder.string()));
}

// The ledger is exported first. A document that a run adds meanwhile may then lack its entry, which
// the run's next attempt adds; an entry never lacks its document.
Result<int> export_store(const StoreArguments& arguments) {
  KIN_TRY(const StoresConfig config, read_stores_config(arguments.config));
  KIN_TRY(const OpenedStores stores, open_stores(config, std::nullopt, system_clock()));
  std::error_code failed;
  std::filesystem::create_directories(arguments.folder, failed);
  if (failed) return system_error("make", arguments.folder, failed.value());
  KIN_TRY(const TemporaryFolder temporary, TemporaryFolder::create(arguments.folder));
  Exchanged numbers;
  KIN_TRY(numbers.entries,
          store::export_ledger(*stores.ledger, arguments.folder / kLedgerFile, temporary.path()));
  KIN_TRY(numbers.documents,
          store::export_fingerprints(*stores.fingerprints, arguments.folder / kFingerprintsFile,
                                     temporary.path()));
  return tell(arguments, "wrote", numbers);
}

Result<int> import_store(const StoreArguments& arguments) {
  KIN_TRY(const StoresConfig config, read_stores_config(arguments.config));
  const auto documents = arguments.folder / kFingerprintsFile;
  KIN_TRY(const TemporaryFolder temporary, TemporaryFolder::create());
  KIN_TRY(const auto parameters, store::exported_parameters(documents, temporary.path()));
  KIN_TRY(const OpenedStores stores, open_stores(config, parameters, system_clock()));
  Exchanged numbers;
  KIN_TRY(numbers.documents,
          store::import_fingerprints(documents, *stores.fingerprints, temporary.path()));
  KIN_TRY(numbers.entries,
          store::import_ledger(arguments.folder / kLedgerFile, *stores.ledger, temporary.path()));
  return tell(arguments, "read", numbers);
}

}  // namespace

Command add_store_command(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "store", "Create, inspect, check, export and import a store of fingerprints");
  verb->footer(kExamples);
  verb->require_subcommand(1);
  const auto arguments = std::make_shared<StoreArguments>();
  const auto add = [&](const char* name, const char* what, auto run,
                       const char* folder = nullptr) -> Command {
    CLI::App* inner = verb->add_subcommand(name, what);
    inner->footer(fmt::format("\nExample:\n  kindred store {}{} --config kindred.yaml", name,
                              folder != nullptr ? " backup/" : ""));
    if (folder != nullptr)
      inner->add_option("FOLDER", arguments->folder, folder)->type_name("")->required();
    inner->add_option("--config", arguments->config, "Settings file of the store")
        ->type_name("FILE")
        ->required();
    inner->add_flag("--json", arguments->json, "Print JSON");
    return {inner, [arguments, run] { return run(*arguments); }};
  };
  return with_verbs(
      *verb, {add("create", "Make its tables, its bucket or its folder", create_store),
              add("stats", "How many documents it has, and how they were made", show_stats),
              add("check", "Compare every document with its keys", check_store),
              add("export", "Write its documents and its ledger to Parquet files", export_store,
                  "Folder for fingerprints.parquet and ledger.parquet"),
              add("import", "Add what was exported, from a store of any kind", import_store,
                  "Folder with fingerprints.parquet and ledger.parquet")});
}

}  // namespace kin::app
