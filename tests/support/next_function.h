#pragma once

#include <dlfcn.h>

namespace tutti {

/// The C library's function, or a sanitizer's, behind one of the same name that a test has put before it.
template <class Function>
Function* next_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace tutti
