#pragma once

#include <hdf5.h>

#include "base/error.h"

namespace tutti {

/// The HDF5 library, loaded on first use. Members carry the names of the C functions they point to. The library of
/// Debian is not thread-safe: one thread at a time.
struct Hdf5Api {
  decltype(&::H5open) H5open;
  decltype(&::H5Eset_auto2) H5Eset_auto2;
  decltype(&::H5Fcreate) H5Fcreate;
  decltype(&::H5Fopen) H5Fopen;
  decltype(&::H5Fclose) H5Fclose;
  decltype(&::H5Screate) H5Screate;
  decltype(&::H5Screate_simple) H5Screate_simple;
  decltype(&::H5Sclose) H5Sclose;
  decltype(&::H5Sget_simple_extent_ndims) H5Sget_simple_extent_ndims;
  decltype(&::H5Sget_simple_extent_dims) H5Sget_simple_extent_dims;
  decltype(&::H5Tcopy) H5Tcopy;
  decltype(&::H5Tclose) H5Tclose;
  decltype(&::H5Tset_size) H5Tset_size;
  decltype(&::H5Tset_cset) H5Tset_cset;
  decltype(&::H5Tset_strpad) H5Tset_strpad;
  decltype(&::H5Tset_fields) H5Tset_fields;
  decltype(&::H5Tset_ebias) H5Tset_ebias;
  decltype(&::H5Tequal) H5Tequal;
  decltype(&::H5Tget_class) H5Tget_class;
  decltype(&::H5Tget_size) H5Tget_size;
  decltype(&::H5Tis_variable_str) H5Tis_variable_str;
  decltype(&::H5Dcreate2) H5Dcreate2;
  decltype(&::H5Dopen2) H5Dopen2;
  decltype(&::H5Dclose) H5Dclose;
  decltype(&::H5Dwrite) H5Dwrite;
  decltype(&::H5Dread) H5Dread;
  decltype(&::H5Dget_space) H5Dget_space;
  decltype(&::H5Dget_type) H5Dget_type;
  decltype(&::H5Dget_offset) H5Dget_offset;
  decltype(&::H5Dvlen_reclaim) H5Dvlen_reclaim;
  decltype(&::H5Lexists) H5Lexists;
  decltype(&::H5Pcreate) H5Pcreate;
  decltype(&::H5Pset_alloc_time) H5Pset_alloc_time;
  decltype(&::H5Pset_fill_time) H5Pset_fill_time;
  decltype(&::H5Pclose) H5Pclose;
  decltype(&::H5Acreate2) H5Acreate2;
  decltype(&::H5Awrite) H5Awrite;
  decltype(&::H5Aexists) H5Aexists;
  decltype(&::H5Aopen) H5Aopen;
  decltype(&::H5Aread) H5Aread;
  decltype(&::H5Aget_type) H5Aget_type;
  decltype(&::H5Aget_space) H5Aget_space;
  decltype(&::H5Aclose) H5Aclose;

  // What the macros H5T_... and H5P_... of the header stand for, once the library is open.
  hid_t ieee_f32le, std_i16le, std_u64le, c_s1, dataset_create;

  /// Fault::missing names the library, and how it comes onto the machine.
  static Result<const Hdf5Api*> load();
};

}  // namespace tutti
