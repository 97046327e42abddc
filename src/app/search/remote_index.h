// The verbs of `kindred index` on the indexes of a router or a server (--at), over its JSON API.
// They print what the local verbs print, and return the exit code.
#pragma once

#include "app/search/index_arguments.h"

namespace kin::app {

// `config` is what the arguments say.
Result<int> create_remote(const IndexArguments& arguments, const search::IndexConfig& config,
                          RemoteApi& api);
Result<int> add_remote(IndexArguments& arguments, RemoteApi& api);
Result<int> list_remote(const IndexArguments& arguments, RemoteApi& api);
Result<int> show_remote_stats(const IndexArguments& arguments, RemoteApi& api);
Result<int> delete_remote(const IndexArguments& arguments, RemoteApi& api);
Result<int> check_remote(const IndexArguments& arguments, RemoteApi& api);
Result<int> export_remote(const IndexArguments& arguments, RemoteApi& api);
Result<int> drop_remote(const IndexArguments& arguments, RemoteApi& api);

}  // namespace kin::app
