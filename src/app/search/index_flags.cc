#include "app/search/index_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "app/data_folder.h"
#include "embed/open_embedder.h"

namespace kin::app {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

void add_data_flag(CLI::App& verb, std::string& data) {
  verb.add_option("--data", data,
                  "Where indexes are kept (default: $KINDRED_DATA, or ~/.local/share/kindred)")
      ->type_name("DIR");
}

void add_index_flags(CLI::App& verb, IndexFlags& flags) {
  verb.add_option("NAME", flags.name, "The name of the index")->required();
  add_data_flag(verb, flags.data);
}

fs::path indexes_folder(const fs::path& data) {
  return data / "indexes";
}

Result<search::OpenOptions> index_open_options(const std::string& data) {
  KIN_TRY(const fs::path folder, data_folder(data));
  // Models that the user has, and those that set-up made.
  std::vector<fs::path> models = embed::model_folders(folder / "models");
  models.emplace_back(KIN_MODELS);
  return search::OpenOptions{.models = std::move(models),
                             .embed_key = environment("KINDRED_EMBED_KEY")};
}

Result<std::unique_ptr<search::Library>> open_library(const std::string& data,
                                                      LibraryOptions options) {
  KIN_TRY(const fs::path folder, data_folder(data));
  KIN_TRY(search::OpenOptions how, index_open_options(data));
  how.tend = options.tend;
  // Whoever types the command may connect to the server all the same.
  how.private_embedders = true;
  return std::make_unique<search::Library>(indexes_folder(folder), std::move(how));
}

}  // namespace kin::app
