#include "app/nodes/meta_flags.h"

#include <fmt/format.h>

#include "app/options.h"
#include "base/file.h"

namespace kin::app {

void add_meta_flags(Verb verb, MetaFlags& flags, const char* what) {
  verb.add_option("--meta", flags.meta, what).type_name("etcd://HOST:PORT[,HOST:PORT]/PREFIX");
  verb.add_option("--meta-login-file", flags.login_file,
                  "File whose first line is USER:PASSWORD for etcd")
      .type_name("FILE");
  verb.add_option("--meta-ca", flags.certificates,
                  "Certificates, one of which signed etcd's (PEM); without it etcd is reached "
                  "without TLS")
      .type_name("FILE");
}

Result<std::optional<router::EtcdOptions>> understand(const MetaFlags& flags) {
  if (flags.meta.empty()) {
    if (!flags.login_file.empty() || !flags.certificates.empty())
      return Error{Code::kInvalidArgument, "--meta-login-file and --meta-ca need --meta"};
    return std::optional<router::EtcdOptions>();
  }
  auto etcd = router::parse_etcd_address(flags.meta);
  if (!etcd) return with_context("--meta", etcd.error());
  etcd->access.ca_file = flags.certificates;
  if (!flags.login_file.empty()) {
    KIN_TRY(const std::string text, read_file(flags.login_file));
    const std::string line = text.substr(0, text.find_first_of("\r\n"));
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == std::string::npos)
      return Error{Code::kInvalidArgument,
                   fmt::format("{}: the first line must be USER:PASSWORD", flags.login_file)};
    etcd->access.user = line.substr(0, colon);
    etcd->access.password = line.substr(colon + 1);
  }
  return std::optional(std::move(*etcd));
}

}  // namespace kin::app
