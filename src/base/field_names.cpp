#include "base/field_names.h"

#include <algorithm>
#include <atomic>

namespace tutti {
namespace {

std::atomic<FieldNames> names_of_process{FieldNames::fields};
thread_local const FieldNamesScope* innermost = nullptr;

std::string flag_of(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

}  // namespace

void set_field_names(FieldNames names) {
  names_of_process = names;
}

FieldNamesScope::FieldNamesScope(FieldNames names) : before_(innermost), names_(names) {
  innermost = this;
}

FieldNamesScope::~FieldNamesScope() {
  innermost = before_;
}

FieldNames field_names() {
  return innermost ? innermost->names_ : names_of_process.load();
}

std::string field(std::string_view name) {
  return field_names() == FieldNames::flags ? flag_of(name) : std::string(name);
}

}  // namespace tutti
