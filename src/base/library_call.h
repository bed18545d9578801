#pragma once

#include <dlfcn.h>

namespace tutti {

/// Points `call` to what a library that dlopen gave exports as `name`, or to nothing. True where it is there; that it
/// is of this type is the caller's word.
template <class Function>
bool look_up(void* library, const char* name, Function*& call) {
  call = reinterpret_cast<Function*>(::dlsym(library, name));
  return call != nullptr;
}

}  // namespace tutti
