#include "dedup/output/json_lines.h"

#include <string>

#include "base/file.h"

namespace kin::dedup {

Status write_json_lines(const std::filesystem::path& path, std::size_t count,
                        const std::function<void(std::size_t, JsonWriter&)>& fill) {
  constexpr std::size_t kAtOnce = 1 << 20;
  KIN_TRY(File file, File::create(path));
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    JsonWriter json;
    json.begin_object();
    fill(i, json);
    lines += json.end().text();
    lines += '\n';
    if (lines.size() < kAtOnce) continue;
    KIN_RETURN_IF_ERROR(file.write(lines));
    lines.clear();
  }
  KIN_RETURN_IF_ERROR(file.write(lines));
  return file.close();
}

}  // namespace kin::dedup
