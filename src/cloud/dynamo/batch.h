// Batches of DynamoDB: split at its limits, sent together, and repeated for items it left out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/calls/caller.h"
#include "cloud/dynamo_client.h"

namespace kin::cloud {

// Makes the call of an operation ("GetItem") with its body.
Call dynamo_call(const CloudOptions& options, const std::string& operation, std::string body);

enum class WriteKind { kPut, kDelete };

// Items to put, or keys to delete.
Status write_batches(Caller& caller, const std::string& table, WriteKind kind,
                     std::vector<Item> items);

Result<std::vector<Item>> get_batches(Caller& caller, const std::string& table,
                                      std::vector<Item> keys);

}  // namespace kin::cloud
