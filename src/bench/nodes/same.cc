#include "bench/nodes/same.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/disk.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "bench/nodes/fleet.h"
#include "bench/nodes/same_vectors.h"
#include "bench/search/text_collection.h"
#include "embed/open_embedder.h"
#include "search/embedding.h"
#include "search/search_index.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;
using search::Document;
using search::Mode;
using search::Question;

constexpr std::size_t kBatch = 500;
constexpr std::size_t kMostSample = 2'000;

struct TextSet {
  std::string name = {};
  std::vector<Document> documents = {};
  std::vector<std::string> questions = {};
  std::vector<std::vector<float>> vectors = {};  // of the questions; empty: there is no model
  std::vector<std::string> linked = {};          // documents that have links

  std::uint32_t dimension() const {
    return vectors.empty() ? 0 : static_cast<std::uint32_t>(vectors.front().size());
  }
};

Result<std::vector<TextSet>> read_sets(const SameBench& bench) {
  std::vector<TextSet> sets;
  for (const fs::path& folder : bench.collections) {
    KIN_TRY(TextCollection read, read_collection(folder));
    TextSet& set = sets.emplace_back(TextSet{.name = folder.filename().string()});
    set.documents = std::move(read.documents);
    for (const app::JudgedQuery& query : read.queries) set.questions.push_back(query.text);
  }
  if (!bench.articles) return sets;
  TextSet& set = sets.emplace_back(TextSet{.name = "reuters"});
  KIN_TRY(set.documents, read_articles(*bench.articles));
  for (const auto& words : title_queries(set.documents, static_cast<int>(bench.queries))) {
    std::string& text = set.questions.emplace_back();
    for (const std::string& word : words) text += word + " ";
  }
  return sets;
}

// Vectors are made here, so that both indexes get the same.
Status add_vectors(const fs::path& model, TextSet& set) {
  KIN_TRY(const auto spec, embed::EmbedderSpec::parse("model2vec:" + model.string()));
  KIN_TRY(const auto embedder, embed::open_embedder(spec, system_clock()));
  KIN_TRY(set.documents, search::embedded(*embedder, set.documents));
  const std::vector<std::string_view> texts(set.questions.begin(), set.questions.end());
  KIN_TRY(set.vectors, embedder->embed(texts));
  return Done{};
}

Result<std::unique_ptr<search::SearchIndex>> local_index(const TextSet& set,
                                                         const fs::path& folder) {
  search::IndexConfig config;
  KIN_RETURN_IF_ERROR(
      search::choose_vectors(config, set.vectors.empty() ? "none" : "given", set.dimension()));
  KIN_RETURN_IF_ERROR(search::SearchIndex::create(folder, config, {}));
  KIN_TRY(auto index, search::SearchIndex::open(folder, {.tend = true}));
  for (std::size_t at = 0; at < set.documents.size(); at += kBatch) {
    const std::size_t count = std::min(kBatch, set.documents.size() - at);
    KIN_RETURN_IF_ERROR(index->add({set.documents.data() + at, count}));
  }
  return index;
}

// With vectors documents are placed by centroids, which a sample gives.
std::string creation_of(const TextSet& set) {
  JsonWriter json;
  json.begin_object().field("name", "papers");
  if (set.vectors.empty()) return json.field("embed", "none").end().take();
  json.field("embed", "given").field("dim", set.dimension()).key("sample").begin_array();
  const std::size_t every = std::max<std::size_t>(1, set.documents.size() / kMostSample);
  for (std::size_t i = 0; i < set.documents.size(); i += every)
    search::write_document(
        json, {.id = set.documents[i].id, .embedding = set.documents[i].embedding});
  return json.end().end().take();
}

Status fill(Caller& caller, const TextSet& set) {
  KIN_RETURN_IF_ERROR(caller.post("/indexes", creation_of(set)));
  for (std::size_t at = 0; at < set.documents.size(); at += kBatch) {
    JsonWriter json;
    json.begin_object().key("documents").begin_array();
    for (std::size_t i = at; i < std::min(set.documents.size(), at + kBatch); ++i)
      search::write_document(json, set.documents[i]);
    KIN_RETURN_IF_ERROR(caller.post("/indexes/papers/documents", json.end().end().take()));
  }
  return Done{};
}

// Question number `place` of a form; nothing if the documents do not have what it needs.
std::optional<Question> question_of(const TextSet& set, SameFigures::Form form, std::size_t place) {
  using Form = SameFigures::Form;
  Question question{.mode = Mode::kText, .text = set.questions[place], .plain = true};
  question.facets = {"tag", "source", "type"};
  switch (form) {
    case Form::kText: return question;
    case Form::kHybrid:
      if (set.vectors.empty() || set.vectors[place].empty()) return {};
      question.mode = Mode::kHybrid;
      question.vector = set.vectors[place];
      question.exact = true;  // otherwise candidates differ
      return question;
    case Form::kExpanded:
      if (set.linked.empty()) return {};
      question.expand.hops = 1;
      return question;
    case Form::kGraph:
      if (set.linked.empty()) return {};
      question = {.mode = Mode::kGraph};
      question.from = {set.linked[place % set.linked.size()]};
      question.expand.hops = 2;
      return question;
  }
  return {};
}

// Everything but the time that it took, which is the last field.
std::string without_time(const std::string& json) {
  return json.substr(0, json.rfind("\"milliseconds\""));
}

Result<SameFigures::Answers> compare_answers(const TextSet& set, SameFigures::Form form,
                                             const search::SearchIndex& one, Caller& many) {
  SameFigures::Answers figures{.form = form};
  for (std::size_t place = 0; place < set.questions.size(); ++place) {
    const auto question = question_of(set, form, place);
    if (!question) continue;
    KIN_TRY(const search::Answer expected, one.search(*question));
    KIN_TRY(const std::string found,
            many.post("/indexes/papers/search", search::to_json(*question)));
    const std::string wanted = without_time(search::to_json(expected));
    const bool same = without_time(found) == wanted;
    ++figures.questions;
    figures.same += same ? 1 : 0;
    if (!same && figures.first_difference.empty())
      figures.first_difference =
          fmt::format("{}\n{}\n{}", search::to_json(*question), wanted, without_time(found));
  }
  return figures;
}

Result<SameFigures::Texts> compare(const TextSet& set, const SameBench& bench,
                                   const fs::path& folder) {
  SameFigures::Texts figures{.set = set.name, .documents = set.documents.size()};
  KIN_RETURN_IF_ERROR(system_disk().make_folder(folder));
  KIN_TRY(const auto one, local_index(set, folder / "one"));
  KIN_TRY(const auto fleet, Fleet::start(bench.nodes, folder / "many"));
  Caller caller(fleet->router().port());
  KIN_RETURN_IF_ERROR(fill(caller, set));
  using Form = SameFigures::Form;
  for (const Form form : {Form::kText, Form::kHybrid, Form::kExpanded, Form::kGraph}) {
    KIN_TRY(auto answers, compare_answers(set, form, *one, caller));
    if (answers.questions > 0) figures.answers.push_back(std::move(answers));
  }
  return figures;
}

std::string_view name_of(SameFigures::Form form) {
  using Form = SameFigures::Form;
  switch (form) {
    case Form::kText: return "words";
    case Form::kHybrid: return "words and vectors";
    case Form::kExpanded: return "words and links";
    case Form::kGraph: return "links";
  }
  return {};
}

}  // namespace

Result<SameFigures> bench_same(const SameBench& bench) {
  SameFigures figures{.bench = bench};
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(bench.folder));
  KIN_TRY(auto sets, read_sets(bench));
  for (TextSet& set : sets) {
    for (const Document& document : set.documents) {
      if (document.links && !document.links->empty()) set.linked.push_back(document.id);
    }
    if (bench.model) KIN_RETURN_IF_ERROR(add_vectors(*bench.model, set));
    KIN_TRY(auto texts, compare(set, bench, folder.path() / set.name));
    figures.texts.push_back(std::move(texts));
  }
  if (bench.vectors) {
    KIN_TRY(figures.vectors, compare_vectors(bench, folder.path() / "vectors"));
  }
  return figures;
}

std::string to_json(const SameFigures& figures) {
  JsonWriter json;
  json.begin_object().field("nodes", figures.bench.nodes).key("texts").begin_array();
  for (const SameFigures::Texts& texts : figures.texts) {
    json.begin_object().field("set", texts.set).field("documents", texts.documents);
    json.key("answers").begin_array();
    for (const SameFigures::Answers& answers : texts.answers) {
      json.begin_object().field("by", name_of(answers.form));
      json.field("questions", answers.questions).field("same", answers.same).end();
    }
    json.end().end();
  }
  json.end();
  if (const auto& vectors = figures.vectors) {
    json.key("vectors").begin_object().field("vectors", vectors->vectors);
    json.field("recall_one", vectors->one).field("recall_many", vectors->many);
    json.field("recall_all", vectors->all);
    json.field("visited", vectors->visited).field("skew", vectors->skew).end();
  }
  return json.end().take();
}

std::string to_table(const SameFigures& figures) {
  std::string out;
  for (const SameFigures::Texts& texts : figures.texts) {
    for (const SameFigures::Answers& answers : texts.answers) {
      out += fmt::format("{:<10}{:>7} documents  {:<18}{:>6} questions{:>6} same over {} nodes\n",
                         texts.set, texts.documents, name_of(answers.form), answers.questions,
                         answers.same, figures.bench.nodes);
      if (!answers.first_difference.empty())
        out += fmt::format("first difference: {}\n", answers.first_difference);
    }
  }
  if (const auto& vectors = figures.vectors)
    out += fmt::format(
        "{} vectors: recall@10 {:.4f} on one shard, {:.4f} over {} with {:.1f} % of the shards "
        "asked, {:.4f} with all; the largest shard has {:.2f} times the mean\n",
        vectors->vectors, vectors->one, vectors->many, figures.bench.nodes, 100 * vectors->visited,
        vectors->all, vectors->skew);
  return out;
}

}  // namespace kin::bench
