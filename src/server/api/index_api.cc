#include "server/api/index_api.h"

#include "search/info_json.h"
#include "server/api/index_answers.h"
#include "server/api/index_requests.h"

namespace kin::server {
namespace {

using search::IndexFolder;
using search::SearchIndex;

// --- answers -----------------------------------------------------------------------------------

Result<Response> index_answer(int status, const std::string& name, IndexFolder& library) {
  KIN_TRY(const auto index, library.open(name));
  JsonWriter json;
  json.begin_object().key("index");
  search::write_info(json, name, index->info());
  return json_response(status, json.end().take());
}

Result<Response> list_answer(IndexFolder& library) {
  KIN_TRY(const auto indexes, library.list());
  JsonWriter json;
  json.begin_object().key("indexes").begin_array();
  for (const search::ListedIndex& index : indexes) search::write_listed(json, index);
  return json_response(200, json.end().end().take());
}

Result<Response> create_answer(IndexFolder& library, const Request& request) {
  KIN_TRY(const auto made, new_index_in(request));
  if (!made.sample.empty())
    return Error{Code::kInvalidArgument,
                 "field \"sample\" is for indexes on nodes: ask `kindred router`"};
  if (made.partitions != 0)
    return Error{Code::kInvalidArgument,
                 "field \"partitions\" is for indexes on nodes: ask `kindred router`"};
  KIN_RETURN_IF_ERROR(library.create(made.name, made.config));
  return index_answer(201, made.name, library);
}

Result<Response> add_answer(SearchIndex& index, const Request& request) {
  KIN_TRY(const auto documents, documents_in(request));
  KIN_TRY(const auto report, index.add(documents));
  return added_response(report);
}

// --- routes ------------------------------------------------------------------------------------

using Ask = std::function<Result<Response>(SearchIndex& index, const Request& request)>;

// A route about one index: opens the index in the path and calls `ask`.
Route about_index(IndexFolder& library, std::string method, std::string below, Ask ask) {
  return {.method = std::move(method),
          .pattern = "/api/v1/indexes/{name}" + std::move(below),
          .named_handler = [&library, ask = std::move(ask)](const Request& request,
                                                            const std::string& name) {
            const auto index = library.open(name);
            return index ? or_error(ask(**index, request)) : error_response(index.error());
          }};
}

}  // namespace

void add_index_api(RouteTable& routes, IndexFolder& library) {
  routes.add({.method = "GET",
              .pattern = "/api/v1/indexes",
              .handler = [&library](const Request&, std::uint64_t) {
                return or_error(list_answer(library));
              }});
  routes.add({.method = "POST",
              .pattern = "/api/v1/indexes",
              .handler =
                  [&library](const Request& request, std::uint64_t) {
                    return or_error(create_answer(library, request), Blame::kRemote);
                  },
              // An embedder may be on another machine.
              .lane = Lane::kSlow});
  routes.add({.method = "GET",
              .pattern = "/api/v1/indexes/{name}",
              .named_handler = [&library](const Request&, const std::string& name) {
                return or_error(index_answer(200, name, library));
              }});
  routes.add({.method = "DELETE",
              .pattern = "/api/v1/indexes/{name}",
              .named_handler = [&library](const Request&, const std::string& name) {
                const Status dropped = library.drop(name);
                return dropped.ok() ? Response{.status = 204} : error_response(dropped.error());
              }});
  Route add = about_index(library, "POST", "/documents", add_answer);
  add.most_body = kLargestBatch;
  // An embedder may be on another machine.
  add.lane = Lane::kSlow;
  routes.add(std::move(add));
  routes.add(about_index(library, "GET", "/document", document_answer<SearchIndex>));
  routes.add(about_index(library, "DELETE", "/document", remove_answer<SearchIndex>));
  routes.add(about_index(library, "GET", "/search", [](SearchIndex& index, const Request& asked) {
    return search_answer(index, question_in_query(asked));
  }));
  routes.add(about_index(library, "POST", "/search", [](SearchIndex& index, const Request& asked) {
    return search_answer(index, question_in_body(asked));
  }));
  routes.add(about_index(library, "GET", "/neighbours", neighbours_answer<SearchIndex>));
  routes.add(about_index(library, "GET", "/path", path_answer<SearchIndex>));
}

}  // namespace kin::server
