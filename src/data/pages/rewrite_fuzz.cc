// Any bytes as a Parquet file are refused, or rewritten to a file that can be read again.
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "data/pages/page_scan.h"
#include "data/pages/rewrite.h"

namespace {

using namespace kin;
using namespace kin::data;

Result<Rewritten> filter(const std::filesystem::path& from, const std::filesystem::path& to,
                         bool all) {
  KIN_TRY(const File file, File::open_to_read(from));
  KIN_TRY(const Footer footer, read_footer(file));
  constexpr std::uint64_t kMost = 1 << 20;
  if (footer.rows > kMost) return Error{Code::kInvalidArgument, "too long for a fuzzer"};
  RecordSet keep(footer.rows, all);
  for (std::uint32_t row = 0; row < footer.rows && !all; row += 3) keep.insert(RecordId{row});
  for (std::size_t i = 0; i < footer.leaves.size(); ++i) {
    const auto columns = scanned_columns(footer, {footer.leaves[i].name()}, 0);
    if (!columns) continue;
    (void)scan_pages({.file = file,
                      .footer = footer,
                      .shown_as = "",
                      .end = footer.rows,
                      .columns = *columns,
                      .names = {""},
                      .on_bad_record = [](RecordId, const Error&) -> Status { return Done{}; }},
                     [](const Batch&, int) -> Status { return Done{}; });
  }
  return rewrite_parquet({.files = {{"", file, footer, 0}},
                          .keep = keep,
                          .path = to,
                          .codec = {},
                          .level = {},
                          .group_rows = {},
                          .key_values = {}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // In memory, because closing flushes files to disk, and there are thousands of them.
  static const TemporaryFolder folder = TemporaryFolder::create("/dev/shm").value();
  const auto in = folder.path() / "in";
  const auto out = folder.path() / "out";
  const auto again = folder.path() / "again";
  std::ofstream(in, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto once = filter(in, out, false);
  if (!once) return 0;
  const auto twice = filter(out, again, true);
  if (!twice || twice->records != once->records) std::abort();
  return 0;
}
