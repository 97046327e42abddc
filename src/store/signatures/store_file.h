// The file of a store on disk: opened in its folder, or without a name for a temporary store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"

namespace kin::store {

// The location of a store's files.
struct StorePlace {
  Disk* disk = &system_disk();
  // The folder of a kept store, made if it does not exist. Nothing: the store is temporary.
  std::optional<std::filesystem::path> folder = std::nullopt;
  // Where a temporary store has its bytes; nothing is the system's folder for temporary files.
  std::optional<std::filesystem::path> temporary_parent = std::nullopt;
};

// Opens the file `name` of a kept store and locks it: kFailedPrecondition if another store has it
// open. The file of a temporary store has no name.
Result<std::unique_ptr<DiskFile>> open_store_file(const StorePlace& place, std::string_view name);

// Whether `bytes`, the whole contents of a file, can be what a power cut left of a header that
// begins with `magic`: unsynced bytes are missing or zero.
bool is_unfinished_header(std::string_view bytes, std::string_view magic);

// A kind of file, for error messages: "the <file> of the <store>".
struct StoreFileKind {
  std::string_view magic;
  std::string_view file;
  std::string_view store;
};
// kFailedPrecondition if `bytes` do not begin with the magic of `kind`, or if another version than
// `version` follows it. Bytes that end before the version pass: their checksum cannot be right.
Status check_kind(std::string_view bytes, const StoreFileKind& kind, std::uint32_t version);

// The error of writes after `cause` made the state of the device unknown.
Error writes_refused(const Error& cause);

}  // namespace kin::store
