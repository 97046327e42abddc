#include "server/api/router_api.h"

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "base/json_writer.h"
#include "server/api/index_answers.h"
#include "server/api/index_requests.h"
#include "server/api/routed_json.h"
#include "server/tenants/names.h"

namespace kin::server {
namespace {

constexpr std::uint32_t kUsualPartitions = 64;

// An index as one request reads it. One thread only.
class ReadIndex {
 public:
  ReadIndex(const RoutedIndex& index, router::Staleness& staleness)
      : index_(index), staleness_(staleness) {}

  auto search(const search::Question& question) const {
    return index_.search(question, &staleness_);
  }
  auto document(std::string_view id, std::optional<index::Millis> as_of) const {
    return index_.document(id, as_of, &staleness_);
  }
  auto neighbours(const search::NeighboursQuestion& question) const {
    return index_.neighbours(question, &staleness_);
  }
  auto path(const search::PathQuestion& question) const {
    return index_.path(question, &staleness_);
  }
  auto list(const RoutedIndex::Place& from, std::size_t most) const {
    return index_.list(from, most, &staleness_);
  }
  std::optional<std::chrono::milliseconds> behind() const { return staleness_.behind; }

 private:
  const RoutedIndex& index_;
  router::Staleness& staleness_;
};

Result<Response> shards_answer(RoutedIndex& index, const Request&) {
  return json_response(200, shards_json(index));
}

Result<Response> index_answer(int status, const std::string& name, RoutedIndex& index) {
  JsonWriter json;
  json.begin_object().key("index");
  write_routed_index(json, name, index);
  return json_response(status, json.end().take());
}

// The full name of an index that the caller calls `name`. The operator may use full names.
Result<std::string> name_for(const Request& request, const std::string& name) {
  if (request.tenant.empty()) {
    KIN_RETURN_IF_ERROR(check_full_name(name));
  } else {
    KIN_RETURN_IF_ERROR(search::check_name(name));
  }
  return full_name(request.tenant, name);
}

// The reverse, for answers. Nothing if it is not the caller's.
std::optional<std::string> shown_to(const Request& request, const std::string& name) {
  if (request.tenant.empty()) return name;
  const std::string own = full_name(request.tenant, "");
  if (!name.starts_with(own)) return std::nullopt;
  return name.substr(own.size());
}

Result<Response> list_answer(RoutedIndexes& indexes, const Request& request) {
  KIN_TRY(const auto names, indexes.names());
  JsonWriter json;
  json.begin_object().key("indexes").begin_array();
  for (const std::string& name : names) {
    const auto shown = shown_to(request, name);
    if (!shown) continue;
    KIN_TRY(const auto index, indexes.open(name));
    write_routed_index(json, *shown, *index);
  }
  return json_response(200, json.end().end().take());
}

Result<Response> create_answer(RoutedIndexes& indexes, const Request& request) {
  KIN_TRY(auto made, new_index_in(request));
  const std::uint32_t partitions = made.partitions == 0 ? kUsualPartitions : made.partitions;
  const std::string name = full_name(request.tenant, made.name);
  KIN_RETURN_IF_ERROR(indexes.create(name, {.config = std::move(made.config),
                                            .partitions = partitions,
                                            .sample = std::move(made.sample)}));
  KIN_TRY(const auto index, indexes.open(name));
  return index_answer(201, made.name, *index);
}

Result<Response> drop_answer(RoutedIndexes& indexes, const Request& request,
                             const std::string& name) {
  KIN_TRY(const std::string full, name_for(request, name));
  KIN_RETURN_IF_ERROR(indexes.drop(full));
  return Response{.status = 204};
}

// How many of the documents are not in the index yet.
Result<std::uint64_t> count_new(RoutedIndex& index, std::span<const search::Document> documents) {
  std::set<DocId> ids;
  for (const search::Document& document : documents) ids.insert(search::doc_id(document.id));
  const std::vector<DocId> asked(ids.begin(), ids.end());
  KIN_TRY(const auto found, index.shards().get(asked, {.vectors = false, .summaries = false}));
  return static_cast<std::uint64_t>(
      std::ranges::count_if(found, [](const auto& entity) { return !entity.has_value(); }));
}

Result<Response> add_answer(RoutedIndex& index, const Request& request, Tenants* tenants) {
  KIN_TRY(const auto documents, documents_in(request));
  Usage write{.entities = documents.size(), .bytes = request.body.size()};
  const bool counts = tenants != nullptr && !request.tenant.empty();
  if (counts) {
    auto refusal =
        tenants->reserve(request.tenant, write, [&] { return count_new(index, documents); });
    if (refusal) return std::move(*refusal);
  }
  const auto added = index.add(documents);
  if (counts) tenants->settle(request.tenant, write);
  if (!added.ok()) return added.error();
  return added_response(*added);
}

// Reads "partition", "partition:number", and either with "@epoch", which a page gave as `next`.
Result<RoutedIndex::Place> place_in(const Request& request) {
  RoutedIndex::Place place;
  const auto given = request.parameter("after");
  if (!given || given->empty()) return place;
  std::string_view text = *given;
  const std::size_t at = text.find('@');
  std::optional<std::uint64_t> divided = 0;  // of an index that was never divided
  if (at != std::string_view::npos) divided = parse_number<std::uint64_t>(text.substr(at + 1));
  text = text.substr(0, at);
  const std::size_t colon = text.find(':');
  const auto partition = parse_number<std::uint32_t>(text.substr(0, colon));
  std::optional<std::uint32_t> number;
  if (colon != std::string_view::npos) number = parse_number<std::uint32_t>(text.substr(colon + 1));
  if (!partition || !divided || (colon != std::string_view::npos && !number))
    return Error{Code::kInvalidArgument, "parameter \"after\" is not the \"next\" of a page"};
  place.partition = *partition;
  place.divided = divided;
  if (number) place.after = index::DocNumber{*number};
  return place;
}

Result<Response> list_documents_answer(const ReadIndex& index, const Request& request) {
  KIN_RETURN_IF_ERROR(only_parameters(request, {"after"}));
  KIN_TRY(const auto place, place_in(request));
  constexpr std::size_t kPage = 500;
  KIN_TRY(const auto page, index.list(place, kPage));
  JsonWriter json;
  json.begin_object().key("documents").begin_array();
  for (const search::Document& document : page.documents) search::write_document(json, document);
  json.end();
  search::write_behind(json, index.behind());
  json.key("next");
  if (!page.next) return json_response(200, json.null().end().take());
  std::string next = std::to_string(page.next->partition);
  if (page.next->after) next += ":" + std::to_string(static_cast<std::uint32_t>(*page.next->after));
  if (page.next->divided.value_or(0) != 0) next += "@" + std::to_string(*page.next->divided);
  return json_response(200, json.value(next).end().take());
}

Result<Response> check_answer(RoutedIndex& index, const Request&) {
  KIN_TRY(const index::CheckReport report, index.check());
  JsonWriter json;
  json.begin_object().key("check").begin_object().field("documents", report.entities);
  json.field("edges", report.edges).field("fragments", report.fragments);
  json.field("text_documents", report.text_documents).field("vectors", report.vectors);
  json.key("faults").begin_array();
  for (const std::string& fault : report.faults) json.value(fault);
  return json_response(200, json.end().end().end().take());
}

using Ask = std::function<Result<Response>(RoutedIndex& index, const Request& request)>;

Result<Response> ask_index(RoutedIndexes& indexes, const Request& request, const std::string& name,
                           const Ask& ask) {
  KIN_TRY(const std::string full, name_for(request, name));
  KIN_TRY(const auto index, indexes.open(full));
  auto answer = ask(*index, request);
  if (answer.ok() || answer.error().code == Code::kInvalidArgument) return answer;
  const auto gone = indexes.forget_if_gone(full);
  if (!gone.ok() || !*gone) return answer;
  KIN_TRY(const auto other, indexes.open(full));
  return ask(*other, request);
}

// A read that says how old a state may answer it, or takes one that is as old as `usual`.
using Read = std::function<Result<Response>(const ReadIndex& index, const Request& request)>;
Ask reading(RoutedIndexes& indexes, std::chrono::milliseconds usual, Read read) {
  return [&indexes, usual, read = std::move(read)](RoutedIndex& index,
                                                   const Request& asked) -> Result<Response> {
    Request request = asked;
    router::Staleness staleness;
    KIN_TRY(staleness.most, take_most_behind(request));
    if (!staleness.most) staleness.most = usual;
    if (staleness.most->count() == 0) staleness.most.reset();
    auto answer = read(ReadIndex(index, staleness), request);
    if (answer.ok()) indexes.count_read(index, staleness);
    return answer;
  };
}

// A route about one index. Its handler waits for nodes.
Route about_index(RoutedIndexes& indexes, std::string method, std::string below, Ask ask) {
  return {.method = std::move(method),
          .pattern = "/api/v1/indexes/{name}" + std::move(below),
          .named_handler =
              [&indexes, ask = std::move(ask)](const Request& request, const std::string& name) {
                return or_error(ask_index(indexes, request, name, ask), Blame::kRemote);
              },
          .lane = Lane::kSlow};
}

}  // namespace

void add_router_api(RouteTable& routes, RoutedIndexes& indexes, Tenants* tenants) {
  routes.add({.method = "GET",
              .pattern = "/api/v1/indexes",
              .handler =
                  [&indexes](const Request& request, std::uint64_t) {
                    return or_error(list_answer(indexes, request), Blame::kRemote);
                  },
              .lane = Lane::kSlow});
  routes.add({.method = "POST",
              .pattern = "/api/v1/indexes",
              .handler =
                  [&indexes](const Request& request, std::uint64_t) {
                    return or_error(create_answer(indexes, request), Blame::kRemote);
                  },
              .lane = Lane::kSlow,
              .most_body = kLargestBatch});
  routes.add({.method = "GET",
              .pattern = "/api/v1/indexes/{name}",
              .named_handler =
                  [&indexes](const Request& request, const std::string& name) {
                    const Ask show = [&](RoutedIndex& index, const Request&) {
                      return index_answer(200, name, index);
                    };
                    return or_error(ask_index(indexes, request, name, show), Blame::kRemote);
                  },
              .lane = Lane::kSlow});
  routes.add({.method = "DELETE",
              .pattern = "/api/v1/indexes/{name}",
              .named_handler =
                  [&indexes](const Request& request, const std::string& name) {
                    return or_error(drop_answer(indexes, request, name), Blame::kRemote);
                  },
              .lane = Lane::kSlow});
  Route add = about_index(indexes, "POST", "/documents",
                          [tenants](RoutedIndex& index, const Request& request) {
                            return add_answer(index, request, tenants);
                          });
  add.most_body = kLargestBatch;
  routes.add(std::move(add));
  routes.add(about_index(indexes, "GET", "/shards", shards_answer));
  // Whoever reads all documents wants the newest, unless the request says otherwise.
  routes.add(about_index(indexes, "GET", "/documents",
                         reading(indexes, std::chrono::milliseconds{0}, list_documents_answer)));
  routes.add(about_index(indexes, "POST", "/check", check_answer));
  routes.add(about_index(indexes, "DELETE", "/document", remove_answer<RoutedIndex>));
  const auto add_read = [&](std::string method, std::string below, Read read) {
    routes.add(about_index(indexes, std::move(method), std::move(below),
                           reading(indexes, indexes.stale_reads(), std::move(read))));
  };
  add_read("GET", "/neighbours", neighbours_answer<ReadIndex>);
  add_read("GET", "/path", path_answer<ReadIndex>);
  add_read("GET", "/document", document_answer<ReadIndex>);
  add_read("GET", "/search", [](const ReadIndex& index, const Request& asked) {
    return search_answer(index, question_in_query(asked));
  });
  add_read("POST", "/search", [](const ReadIndex& index, const Request& asked) {
    return search_answer(index, question_in_body(asked));
  });
}

}  // namespace kin::server
