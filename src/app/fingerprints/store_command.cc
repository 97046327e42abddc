#include <fmt/format.h>

#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "app/command.h"
#include "app/fingerprints/stores.h"
#include "app/options.h"
#include "app/print.h"
#include "app/remote_access.h"
#include "app/words.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "data/remote_files.h"
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
  kindred store export s3://backups/fingerprints/ --config kindred.yaml

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

// The two files of an exported store, where they are read or written: the folder that was named, or
// one of this machine if that is an address.
class ExportFolder {
 public:
  // With `fetch`, the files are there to read.
  static Result<ExportFolder> open(const std::filesystem::path& named, bool fetch) {
    ExportFolder folder(named);
    if (!data::is_remote(named)) return folder;
    folder.remote_ = open_s3_files({});
    KIN_TRY(TemporaryFolder local, TemporaryFolder::create());
    folder.local_.emplace(std::move(local));
    for (const char* file : {kLedgerFile, kFingerprintsFile}) {
      if (fetch) {
        KIN_RETURN_IF_ERROR(folder.fetch(file));
      } else {
        KIN_RETURN_IF_ERROR(folder.remote_->check_writable(folder.address(file)));
      }
    }
    return folder;
  }

  const std::filesystem::path& path() const { return local_ ? local_->path() : named_; }
  // Sends what was written. Both files appear when both were sent.
  Status publish() {
    if (!remote_) return Done{};
    std::vector<std::unique_ptr<data::RemoteUpload>> uploads;
    for (const char* file : {kLedgerFile, kFingerprintsFile}) {
      KIN_TRY(auto upload, remote_->upload(local_->path() / file, address(file)));
      uploads.push_back(std::move(upload));
    }
    for (const auto& upload : uploads) KIN_RETURN_IF_ERROR(upload->publish());
    return Done{};
  }

 private:
  explicit ExportFolder(std::filesystem::path named) : named_(std::move(named)) {}
  std::string address(const char* file) const {
    std::string folder = named_.string();
    while (folder.ends_with('/')) folder.pop_back();
    return folder + "/" + file;
  }
  Status fetch(const char* file) {
    KIN_TRY(const auto found, remote_->look(address(file)));
    if (!found) return Error{Code::kNotFound, fmt::format("there is no {}", address(file))};
    KIN_TRY(const std::filesystem::path copy, remote_->copy(*found));
    std::error_code failed;
    std::filesystem::copy_file(copy, local_->path() / file, failed);
    return failed ? Status(system_error("make", local_->path() / file, failed.value()))
                  : Status(Done{});
  }

  std::filesystem::path named_;
  std::unique_ptr<cloud::S3Files> remote_;
  std::optional<TemporaryFolder> local_;
};

// The ledger is exported first. A document that a run adds meanwhile may then lack its entry, which
// the run's next attempt adds; an entry never lacks its document.
Result<int> export_store(const StoreArguments& arguments) {
  KIN_TRY(const StoresConfig config, read_stores_config(arguments.config));
  KIN_TRY(const OpenedStores stores, open_stores(config, std::nullopt, system_clock()));
  KIN_TRY(ExportFolder folder, ExportFolder::open(arguments.folder, /*fetch=*/false));
  std::error_code failed;
  std::filesystem::create_directories(folder.path(), failed);
  if (failed) return system_error("make", folder.path(), failed.value());
  KIN_TRY(const TemporaryFolder temporary, TemporaryFolder::create(folder.path()));
  Exchanged numbers;
  KIN_TRY(numbers.entries,
          store::export_ledger(*stores.ledger, folder.path() / kLedgerFile, temporary.path()));
  KIN_TRY(numbers.documents,
          store::export_fingerprints(*stores.fingerprints, folder.path() / kFingerprintsFile,
                                     temporary.path()));
  KIN_RETURN_IF_ERROR(folder.publish());
  return tell(arguments, "wrote", numbers);
}

Result<int> import_store(const StoreArguments& arguments) {
  KIN_TRY(const StoresConfig config, read_stores_config(arguments.config));
  KIN_TRY(const ExportFolder folder, ExportFolder::open(arguments.folder, /*fetch=*/true));
  const auto documents = folder.path() / kFingerprintsFile;
  KIN_TRY(const TemporaryFolder temporary, TemporaryFolder::create());
  KIN_TRY(const auto parameters, store::exported_parameters(documents, temporary.path()));
  KIN_TRY(const OpenedStores stores, open_stores(config, parameters, system_clock()));
  Exchanged numbers;
  KIN_TRY(numbers.documents,
          store::import_fingerprints(documents, *stores.fingerprints, temporary.path()));
  KIN_TRY(numbers.entries,
          store::import_ledger(folder.path() / kLedgerFile, *stores.ledger, temporary.path()));
  return tell(arguments, "read", numbers);
}

}  // namespace

Command add_store_command(Verb app) {
  const Verb verb = app.add_subcommand(
      "store", "Create, inspect, check, export and import a store of fingerprints");
  verb.footer(kExamples);
  verb.require_subcommand(1, 1);
  const auto arguments = std::make_shared<StoreArguments>();
  const auto add = [&](const char* name, const char* what, auto run,
                       const char* folder = nullptr) -> Command {
    const Verb inner = verb.add_subcommand(name, what);
    inner.footer(fmt::format("\nExample:\n  kindred store {}{} --config kindred.yaml", name,
                             folder != nullptr ? " backup/" : ""));
    if (folder != nullptr)
      inner.add_option("FOLDER", arguments->folder, folder).type_name("").required();
    inner.add_option("--config", arguments->config, "Settings file of the store")
        .type_name("FILE")
        .required();
    inner.add_flag("--json", arguments->json, "Print JSON");
    return {inner, [arguments, run] { return run(*arguments); }};
  };
  return with_verbs(
      verb, {add("create", "Make its tables, its bucket or its folder", create_store),
             add("stats", "How many documents it has, and how they were made", show_stats),
             add("check", "Compare every document with its keys", check_store),
             add("export", "Write its documents and its ledger to Parquet files", export_store,
                 "Folder, or s3://BUCKET/PREFIX/, for fingerprints.parquet and ledger.parquet"),
             add("import", "Add what was exported, from a store of any kind", import_store,
                 "Folder, or s3://BUCKET/PREFIX/, with fingerprints.parquet and ledger.parquet")});
}

}  // namespace kin::app
