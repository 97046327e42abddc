#include "app/search/index_flags.h"

#include "app/data_folder.h"
#include "app/options.h"

namespace kin::app {

namespace fs = std::filesystem;

void add_data_flag(Verb verb, std::string& data) {
  verb.add_option("--data", data, "Data folder (default: $KINDRED_DATA, or ~/.local/share/kindred)")
      .type_name("DIR");
}

void add_index_flags(Verb verb, IndexFlags& flags) {
  verb.add_option("NAME", flags.name, "The name of the index").required();
  add_data_flag(verb, flags.data);
}

fs::path indexes_folder(const fs::path& data) {
  return data / "indexes";
}

Result<search::OpenOptions> index_open_options(const std::string& data) {
  KIN_TRY(const fs::path folder, data_folder(data));
  return search::OpenOptions{.models = model_folders(folder, program_path()),
                             .embed_key = environment("KINDRED_EMBED_KEY")};
}

Result<std::unique_ptr<search::IndexFolder>> open_indexes(const std::string& data,
                                                          OpenIndexesOptions options) {
  KIN_TRY(const fs::path folder, data_folder(data));
  KIN_TRY(search::OpenOptions how, index_open_options(data));
  how.tend = options.tend;
  // The user of the command line can reach that address without Kindred, too.
  how.private_embedders = true;
  how.models_anywhere = true;
  return std::make_unique<search::IndexFolder>(indexes_folder(folder), std::move(how));
}

}  // namespace kin::app
