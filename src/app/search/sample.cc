#include "app/search/sample.h"

#include <span>
#include <utility>

#include "base/json_writer.h"
#include "base/locked_folder.h"
#include "base/random.h"
#include "search/document_files.h"

namespace kin::app {
namespace {

using search::Document;

constexpr std::size_t kMostDocuments = 20'000;
constexpr std::size_t kMostBytes = std::size_t{12} << 20;  // a router takes 16 MiB

Document parts_to_learn_from(const Document& document) {
  return {.id = document.id,
          .title = document.title,
          .text = document.text,
          .embedding = document.embedding};
}

// The documents whose JSON fits into a request, from the first on.
void keep_what_fits(std::vector<Document>& documents) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    JsonWriter json;
    search::write_document(json, documents[i]);
    bytes += json.take().size() + 1;
    if (bytes > kMostBytes) return documents.resize(i);
  }
}

}  // namespace

Result<std::vector<Document>> sample_of(const std::vector<std::string>& files) {
  KIN_TRY(const LockedFolder spool, LockedFolder::create());
  std::vector<Document> kept;
  std::uint64_t seen = 0;
  Random random(1);
  const auto take = [&](std::span<const Document> documents) -> Status {
    // In random order at every moment, so that the first ones are a sample as well.
    for (const Document& document : documents) {
      const std::uint64_t place = random.below(++seen);
      if (kept.size() < kMostDocuments) {
        kept.push_back(parts_to_learn_from(document));
        std::swap(kept[place], kept.back());
      } else if (place < kMostDocuments) {
        kept[place] = parts_to_learn_from(document);
      }
    }
    return Done{};
  };
  search::FilesProgress progress;
  KIN_RETURN_IF_ERROR(search::read_documents(
      {.files = files, .temporary_folder = spool.path()}, progress, take));
  keep_what_fits(kept);
  return kept;
}

}  // namespace kin::app
