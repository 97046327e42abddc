// The interface between KeyValueStore and its engines. Contracts are those of key_value_store.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kv/store_options.h"

namespace kin::kv {

class EngineBatch {
 public:
  virtual ~EngineBatch() = default;
  virtual void put(std::string_view key, std::string_view value, Family family) = 0;
  virtual void remove(std::string_view key, Family family) = 0;
  virtual void remove_range(std::string_view from, std::string_view to, Family family) = 0;
  virtual void clear() = 0;
  virtual std::size_t size() const = 0;
  virtual std::size_t bytes() const = 0;
};

class EngineCursor {
 public:
  virtual ~EngineCursor() = default;
  virtual bool valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual void next() = 0;
  virtual void seek(std::string_view key) = 0;
  virtual Status status() const = 0;
};

// Reads of a store as it is now, or of a snapshot.
class EngineReader {
 public:
  virtual ~EngineReader() = default;
  virtual Result<std::optional<std::string>> get(std::string_view key, Family family) const = 0;
  virtual Result<std::vector<std::optional<std::string>>> get_many(
      std::span<const std::string> keys, Family family) const = 0;
  virtual std::unique_ptr<EngineCursor> cursor(const KeyRange& range, Family family) const = 0;
};

class Engine : public EngineReader {
 public:
  // A batch that is passed to write() was made by batch() of the same engine.
  virtual std::unique_ptr<EngineBatch> batch() const = 0;
  virtual std::unique_ptr<const EngineReader> snapshot() const = 0;
  virtual Status write(const EngineBatch& batch, const WriteOptions& options) = 0;
  virtual Status ingest(const NextRow& next, Family family) = 0;
  virtual Status contains_many(std::span<const std::string_view> keys,
                               std::span<std::uint8_t> found, Family family) const = 0;
  virtual Status flush() = 0;
  virtual Status compact() = 0;
  virtual Status checkpoint(const std::filesystem::path& folder) = 0;
  virtual StoreUsage usage() const = 0;
  virtual Status close() = 0;
};

}  // namespace kin::kv
