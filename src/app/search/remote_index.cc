#include "app/search/remote_index.h"

#include <fmt/format.h>

#include "app/command.h"
#include "app/print.h"
#include "app/progress_line.h"
#include "app/search/index_report.h"
#include "app/search/sample.h"
#include "app/words.h"
#include "base/json_writer.h"
#include "base/locked_folder.h"
#include "base/memory.h"
#include "data/json_value.h"
#include "search/info_json.h"

namespace kin::app {

using search::Document;

namespace {

std::uint64_t whole(const data::JsonValue& value) {
  return value.number() == nullptr ? 0 : static_cast<std::uint64_t>(*value.number());
}

// The settings of a new index, as docs/api.md has them.
std::string creation_json(const IndexArguments& arguments, const search::IndexConfig& config,
                          const std::vector<Document>& sample) {
  JsonWriter json;
  json.begin_object().field("name", arguments.place.name).field("embed", arguments.embed);
  json.field("dim", arguments.dimension).field("distance", arguments.distance);
  json.field("bits", arguments.bits).field("language", arguments.language);
  if (!arguments.storage.empty()) json.field("vectors", arguments.storage);
  if (!config.more.empty()) {
    json.key("spaces").begin_array();
    for (const search::SpaceConfig& space : config.more) {
      json.begin_object().field("name", space.name).field("dim", space.dimension);
      json.field("distance", search::name_of(space.distance)).end();
    }
    json.end();
  }
  if (!arguments.dedup.empty())
    json.field("dedup", arguments.dedup).field("threshold", arguments.threshold);
  if (arguments.partitions > 0) json.field("partitions", arguments.partitions);
  if (!sample.empty()) {
    json.key("sample").begin_array();
    for (const Document& document : sample) search::write_document(json, document);
    json.end();
  }
  return json.end().take();
}

std::vector<search::RepeatedDocument> repeated_in(const data::JsonValue& list) {
  std::vector<search::RepeatedDocument> repeated;
  for (const data::JsonValue& one : list.items()) {
    const double* similarity = one["similarity"].number();
    repeated.push_back({.id = std::string(one["id"].text()),
                        .duplicate_of = std::string(one["duplicate_of"].text()),
                        .similarity = similarity == nullptr ? 0 : *similarity});
  }
  return repeated;
}

// Adds what a router or a server says about a batch.
Status take_report(const std::string& answer, Adding& adding) {
  KIN_TRY(const data::JsonValue json, data::parse_json(answer));
  const double* added = json["added"].number();
  if (added == nullptr)
    return Error{Code::kInternal, "the answer does not say how many were added"};
  adding.added += static_cast<std::uint64_t>(*added);
  std::ranges::move(repeated_in(json["refused"]), std::back_inserter(adding.refused));
  std::ranges::move(repeated_in(json["linked"]), std::back_inserter(adding.linked));
  return Done{};
}

std::string added_json(const Adding& adding) {
  JsonWriter json;
  json.begin_object().field("added", adding.added.load());
  search::write_repeated(json, "refused", adding.refused);
  search::write_repeated(json, "linked", adding.linked);
  return json.end().take();
}

void add_listed(const data::JsonValue& index, std::string& table) {
  if (!index["problem"].is_null()) {
    table += fmt::format("{:<20} ! {}\n", index["name"].text(), index["problem"].text());
    return;
  }
  table += fmt::format("{:<20} {:>12} documents {:>10}  vectors: {}", index["name"].text(),
                       with_commas(whole(index["documents"])), format_bytes(whole(index["bytes"])),
                       index["embed"].text());
  const std::size_t nodes = index["shards"].items().size();
  table += nodes == 0 ? "\n" : fmt::format(", on {} node{}\n", nodes, nodes == 1 ? "" : "s");
}

Status each_remote(const IndexArguments& arguments, RemoteApi& api, const Visit& visit) {
  for (std::string after;;) {
    KIN_TRY(const std::string text,
            api.get(index_path(arguments.place.name) + "/documents?after=" + escaped(after)));
    KIN_TRY(const data::JsonValue json, data::parse_json(text));
    for (const data::JsonValue& one : json["documents"].items()) {
      KIN_TRY(const Document document, search::document_of(one));
      KIN_RETURN_IF_ERROR(visit(document));
    }
    if (json["next"].is_null()) return Done{};
    after = json["next"].text();
  }
}

}  // namespace

Result<int> create_remote(const IndexArguments& arguments, const search::IndexConfig& config,
                          RemoteApi& api) {
  std::vector<Document> sample;
  if (!arguments.sample.empty()) {
    KIN_TRY(sample, sample_of(arguments.sample));
  }
  KIN_TRY([[maybe_unused]] const std::string answer,
          api.post("/indexes", creation_json(arguments, config, sample)));
  return print_created(arguments);
}

Result<int> add_remote(IndexArguments& arguments, RemoteApi& api) {
  KIN_TRY(const LockedFolder spool, LockedFolder::create());
  arguments.files.temporary_folder = spool.path();
  std::atomic<bool> stop{false};
  const StopSignals signals(stop);
  Adding adding;
  const auto take = [&](std::span<const Document> documents) -> Status {
    if (stop) return Error{Code::kCancelled, "stopped"};
    JsonWriter json;
    json.begin_object().key("documents").begin_array();
    for (const Document& document : documents) search::write_document(json, document);
    KIN_TRY(const std::string answer,
            api.post(index_path(arguments.place.name) + "/documents", json.end().end().take()));
    return take_report(answer, adding);
  };
  const Status read = [&] {
    const ProgressLine line([&](double seconds) { return progress_text(adding, seconds); },
                            !arguments.json);
    return search::read_documents(arguments.files, adding.files, take);
  }();
  if (!read.ok() && adding.added > 0)
    say(fmt::format("kindred: the {} documents before it were added\n", with_commas(adding.added)));
  if (!read.ok()) return unfinished(read.error(), signals);
  if (arguments.json) return print_result(added_json(adding) + "\n");
  std::string words = fmt::format("{} documents added to {} at {}\n", with_commas(adding.added),
                                  arguments.place.name, arguments.at.at);
  if (!adding.refused.empty())
    words += fmt::format("{} near-duplicates refused\n", with_commas(adding.refused.size()));
  if (!adding.linked.empty())
    words += fmt::format("{} near-duplicates linked\n", with_commas(adding.linked.size()));
  return print_result(words);
}

Result<int> list_remote(const IndexArguments& arguments, RemoteApi& api) {
  KIN_TRY(const std::string text, api.get("/indexes"));
  if (arguments.json) return print_result(text + "\n");
  KIN_TRY(const data::JsonValue json, data::parse_json(text));
  std::string table;
  for (const data::JsonValue& index : json["indexes"].items()) add_listed(index, table);
  if (table.empty())
    table = fmt::format("no indexes yet (kindred index create NAME --at {})\n", arguments.at.at);
  return print_result(table);
}

Result<int> drop_remote(const IndexArguments& arguments, RemoteApi& api) {
  KIN_RETURN_IF_ERROR(api.remove(index_path(arguments.place.name)));
  return print_dropped(arguments);
}

Result<int> show_remote_stats(const IndexArguments& arguments, RemoteApi& api) {
  KIN_TRY(const std::string text, api.get(index_path(arguments.place.name)));
  if (arguments.json) return print_result(text + "\n");
  KIN_TRY(const data::JsonValue json, data::parse_json(text));
  const data::JsonValue& index = json["index"];
  std::string words = arguments.place.name + "\n";
  const auto line = [&](std::string_view what, const data::JsonValue& value) {
    words += fmt::format("  {:<22}{}\n", what, with_commas(whole(value)));
  };
  line("documents", index["documents"]);
  line("links", index["edges"]);
  line("fragments", index["fragments"]);
  words += fmt::format("  {:<22}{}\n", "vectors", index["embed"].text());
  words += fmt::format("  {:<22}{}\n", "on disk", format_bytes(whole(index["bytes"])));
  if (index["shards"].is_null()) return print_result(words);  // a server's own
  line("partitions", index["partitions"]);
  words += fmt::format("  {:<22}{}\n", "text", format_bytes(whole(index["text_bytes"])));
  words += fmt::format("  {:<22}{}\n", "shards", index["shards"].items().size());
  return print_result(words);
}

Result<int> delete_remote(const IndexArguments& arguments, RemoteApi& api) {
  std::uint64_t removed = 0;
  const std::string index = index_path(arguments.place.name);
  // Asked for first: a document that is not there is told from an index that is not.
  KIN_TRY([[maybe_unused]] const std::string there, api.get(index));
  for (const std::string& id : arguments.ids) {
    const Status done = api.remove(index + "/document?id=" + escaped(id));
    if (!done.ok() && done.error().code != Code::kNotFound) return done.error();
    removed += done.ok() ? 1 : 0;
  }
  return print_deleted(arguments, removed);
}

Result<int> check_remote(const IndexArguments& arguments, RemoteApi& api) {
  KIN_TRY(const std::string text, api.post(index_path(arguments.place.name) + "/check", "{}"));
  KIN_TRY(const data::JsonValue json, data::parse_json(text));
  const data::JsonValue& check = json["check"];
  index::CheckReport report{.entities = whole(check["documents"]),
                            .edges = whole(check["edges"]),
                            .fragments = whole(check["fragments"]),
                            .text_documents = whole(check["text_documents"]),
                            .vectors = whole(check["vectors"])};
  for (const data::JsonValue& fault : check["faults"].items())
    report.faults.emplace_back(fault.text());
  return print_checked(arguments, report);
}

Result<int> export_remote(const IndexArguments& arguments, RemoteApi& api) {
  return export_documents(arguments,
                          [&](const Visit& visit) { return each_remote(arguments, api, visit); });
}

}  // namespace kin::app
