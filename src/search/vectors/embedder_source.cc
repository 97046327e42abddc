#include "search/vectors/embedder_source.h"

namespace kin::search {

std::string embedded_text(const index::SourceText& text) {
  std::string whole;
  whole.reserve(text.title.size() + 1 + text.text.size());
  whole.append(text.title);
  if (!text.title.empty() && !text.text.empty()) whole += ' ';
  whole.append(text.text);
  return whole;
}

Result<std::vector<std::vector<float>>> EmbedderSource::documents(
    std::span<const index::SourceText> texts) const {
  std::vector<std::string> whole;
  std::vector<std::string_view> views;
  whole.reserve(texts.size());  // the views need the texts to stay where they are
  for (const index::SourceText& text : texts)
    views.emplace_back(whole.emplace_back(embedded_text(text)));
  return embedder_->embed(views);
}

Result<std::vector<float>> EmbedderSource::query(std::string_view text) const {
  KIN_TRY(auto vectors, embedder_->embed({&text, 1}));
  return std::move(vectors.front());
}

}  // namespace kin::search
