// Answers of the JSON API of indexes that are the same for an index on this machine
// (search::SearchIndex) and one over nodes (RoutedIndex). Thread-safe.
#pragma once

#include "base/json_writer.h"
#include "base/result.h"
#include "search/answer.h"
#include "search/document.h"
#include "search/info_json.h"
#include "search/search_index.h"
#include "server/api/index_requests.h"
#include "server/http/message.h"

namespace kin::server {

inline Response no_document(const std::string& id) {
  return error_response(404, "there is no document \"" + id + "\"");
}

inline Response added_response(const search::AddReport& report) {
  JsonWriter json;
  json.begin_object().field("added", report.added);
  search::write_repeated(json, "refused", report.refused);
  search::write_repeated(json, "linked", report.linked);
  return json_response(200, json.end().take());
}

// How old the state was that answered. Only an index over nodes has copies.
template <typename Index>
std::optional<std::chrono::milliseconds> behind_of(const Index& index) {
  if constexpr (requires { index.behind(); }) return index.behind();
  return {};
}

template <typename Index>
Result<Response> document_answer(const Index& index, const Request& request) {
  KIN_RETURN_IF_ERROR(only_parameters(request, {"id", "as_of"}));
  KIN_TRY(const auto id, id_in(request));
  KIN_TRY(const auto as_of, as_of_in(request));
  KIN_TRY(const auto document, index.document(id, as_of));
  if (!document) return no_document(id);
  JsonWriter json;
  json.begin_object().key("document");
  search::write_document(json, *document);
  search::write_behind(json, behind_of(index));
  return json_response(200, json.end().take());
}

template <typename Index>
Result<Response> remove_answer(Index& index, const Request& request) {
  KIN_TRY(const auto id, id_in(request));
  KIN_TRY(const auto removed, index.remove({&id, 1}));
  if (removed == 0) return no_document(id);
  return Response{.status = 204};
}

template <typename Index>
Result<Response> path_answer(const Index& index, const Request& request) {
  KIN_TRY(const auto question, path_in(request));
  KIN_TRY(const auto path, index.path(question));
  return json_response(200, search::to_json(path, behind_of(index)));
}

template <typename Index>
Result<Response> neighbours_answer(const Index& index, const Request& request) {
  KIN_TRY(const auto question, neighbours_in(request));
  KIN_TRY(const auto found, index.neighbours(question));
  JsonWriter json;
  json.begin_object().key("nodes").begin_array();
  for (const search::Neighbours::Node& node : found.nodes) {
    json.begin_object().field("id", node.id).field("title", node.title).field("hops", node.hops);
    if (node.missing) json.field("missing", true);
    json.end();
  }
  json.end().key("edges").begin_array();
  for (const search::AnswerEdge& edge : found.edges) search::write_edge(json, edge);
  json.end().field("complete", found.complete);
  search::write_behind(json, behind_of(index));
  return json_response(200, json.end().take());
}

template <typename Index>
Result<Response> search_answer(const Index& index, const Result<search::Question>& question) {
  if (!question) return question.error();
  KIN_TRY(const auto answer, index.search(*question));
  return json_response(200, search::to_json(answer));
}

}  // namespace kin::server
