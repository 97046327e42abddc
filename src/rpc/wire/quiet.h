// Keeps gRPC and protobuf from printing.
#pragma once

namespace kin::rpc {

// Library rooms print nothing: what goes wrong is a status of a call. Thread-safe.
void keep_libraries_quiet();

}  // namespace kin::rpc
