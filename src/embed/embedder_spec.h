// Where vectors come from, as a user names it and as an index keeps it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::embed {

enum class EmbedderKind {
  kNone,       // no vectors
  kGiven,      // vectors come with the documents
  kCorpus,     // a model trained on the documents (corpus_model.h)
  kWords,      // a file of word vectors
  kModel2Vec,  // a folder with a model2vec model
  kHttp,       // a server that speaks OpenAI's embeddings API
};

// "none", "given", "corpus", "words", "model2vec", "http". Thread-safe.
std::string_view name_of(EmbedderKind kind);

// Thread-compatible.
struct EmbedderSpec {
  EmbedderKind kind = EmbedderKind::kCorpus;
  // The file of kWords (empty for words.kwv in a folder of models), the folder of kModel2Vec, or
  // the URL#MODEL of kHttp. Empty for the other kinds.
  std::string place = {};

  // Reads "none", "given", "corpus", "words", "words:FILE", "model2vec:DIR", "http:URL#MODEL" and
  // "URL#MODEL". kInvalidArgument for anything else.
  static Result<EmbedderSpec> parse(std::string_view text);
  // The text that parse() reads; one text for each spec.
  std::string text() const;

  // True if open_embedder() opens it: not for kNone, kGiven and kCorpus.
  bool is_opened_by_name() const { return kind > EmbedderKind::kCorpus; }

  friend bool operator==(const EmbedderSpec&, const EmbedderSpec&) = default;
};

}  // namespace kin::embed
