#include "app/meaning.h"

#include <fmt/format.h>

#include "app/data_folder.h"
#include "base/clock.h"
#include "embed/open_embedder.h"

namespace kin::app {

Result<std::shared_ptr<const embed::Embedder>> open_meaning(const std::string& spec,
                                                            const std::filesystem::path& data) {
  KIN_TRY(const embed::EmbedderSpec parsed, embed::EmbedderSpec::parse(spec));
  if (parsed.kind == embed::EmbedderKind::kNone) return std::shared_ptr<const embed::Embedder>();
  // A server may change its answers, but the same headlines must always give the same stories.
  if (parsed.kind != embed::EmbedderKind::kWords && parsed.kind != embed::EmbedderKind::kModel2Vec)
    return Error{
        Code::kInvalidArgument,
        fmt::format("--meaning {}: stories take none, words, words:FILE or model2vec:DIR", spec)};
  auto opened = embed::open_embedder(parsed, system_clock(),
                                     {.folders = model_folders(data, program_path())});
  const bool is_missing = !opened.ok() && opened.error().code == Code::kNotFound;
  if (is_missing && spec == kDefaultMeaning) return std::shared_ptr<const embed::Embedder>();
  return opened;
}

}  // namespace kin::app
