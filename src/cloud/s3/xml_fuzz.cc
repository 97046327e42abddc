// XML of any bytes: a tree that can be written and read again, or an error.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cloud/s3/xml.h"

namespace {

std::string written(const kin::cloud::XmlElement& element) {
  std::string out = "<" + element.name + ">" + kin::cloud::xml_escaped(element.text);
  for (const auto& child : element.children) out += written(child);
  return out + "</" + element.name + ">";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto root = kin::cloud::parse_xml({reinterpret_cast<const char*>(data), size});
  if (!root.ok()) return 0;
  const std::string text = written(*root);
  const auto again = kin::cloud::parse_xml(text);
  if (!again.ok() || written(*again) != text) std::abort();
  return 0;
}
