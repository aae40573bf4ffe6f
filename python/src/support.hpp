#pragma once

/// What all bindings share: numbers in, arrays out, names of enumerations, classes of options.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/math/se3.hpp"

namespace tangere::python {

namespace nb = nanobind;

/// A NumPy array of doubles, on its way to Python.
struct Array {
  nb::object object;
};
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor | Eigen::DontAlign>;

/// Anything that NumPy can read as numbers: arrays of any type and layout, lists, one number. It is read by the
/// functions below, whose errors name the quantity.
struct Numbers {
  nb::handle object;
};

/// A pose: a `Pose`, a position (3 numbers), a position and a quaternion x y z w (7), or a 4 x 4 matrix.
struct PoseLike {
  nb::handle object;
};

/// The body or joint of a model: an index or a name.
struct Place {
  nb::handle object;
};

/// Numbers as a C-contiguous block of doubles, for as long as this lives; copied only where they are something else.
class Doubles {
 public:
  Doubles(const Numbers& numbers, const char* name);
  ~Doubles();
  Doubles(const Doubles&) = delete;
  Doubles& operator=(const Doubles&) = delete;

  [[nodiscard]] const double* data() const { return static_cast<const double*>(buffer_.buf); }
  [[nodiscard]] int rank() const { return buffer_.ndim; }
  [[nodiscard]] Py_ssize_t extent(int axis) const { return buffer_.shape[axis]; }
  [[nodiscard]] Py_ssize_t size() const { return buffer_.len / Py_ssize_t{sizeof(double)}; }
  /// `(3, 4)`.
  [[nodiscard]] std::string shape() const;

 private:
  Py_buffer buffer_{};
};

/// A vector of `size` numbers; InputError naming it else. `size` -1: any.
[[nodiscard]] VectorX read_vector(const Numbers& numbers, const char* name, Eigen::Index size = -1);
/// The same, or one number for all.
[[nodiscard]] VectorX read_vector_or_scalar(const Numbers& numbers, const char* name, Eigen::Index size);
[[nodiscard]] Vector3 read_vector3(const Numbers& numbers, const char* name);
/// -1: any.
[[nodiscard]] RowMatrix read_matrix(const Numbers& numbers, const char* name, Eigen::Index rows, Eigen::Index cols);
[[nodiscard]] Pose read_pose(const PoseLike& pose, const char* name);
/// The object of a handle; TypeError for one whose `__init__` has not run.
template <class T>
[[nodiscard]] T& ready(nb::handle object) {
  if (!nb::inst_ready(object)) throw nb::type_error("the object was not initialised");
  return *nb::inst_ptr<T>(object);
}
/// An index into `size` things, or InputError.
[[nodiscard]] int checked_index(long index, int size, const char* name);

/// A new array with these numbers.
[[nodiscard]] Array new_array(const std::vector<std::size_t>& shape, const double* data);
/// A new array of the shape, not filled; `data` is where.
[[nodiscard]] Array empty_array(const std::vector<std::size_t>& shape, double*& data);
/// A view of memory that belongs to a Python object.
[[nodiscard]] Array view_array(const std::vector<std::size_t>& shape, double* data, nb::handle owner);

template <class Derived>
[[nodiscard]] Array to_array(const Eigen::MatrixBase<Derived>& m) {
  if constexpr (Derived::ColsAtCompileTime == 1) {
    const Eigen::Matrix<double, Derived::RowsAtCompileTime, 1, Eigen::DontAlign> copy = m;
    return new_array({static_cast<std::size_t>(m.rows())}, copy.data());
  } else {
    const RowMatrix copy = m;
    return new_array({static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())}, copy.data());
  }
}

template <class Enum>
struct Name {
  Enum value;
  const char* text;
};

[[noreturn]] void throw_unknown_name(const char* what, std::string_view name, const std::vector<const char*>& allowed);

/// The value of a name; InputError with all names else.
template <class Enum, std::size_t N>
[[nodiscard]] Enum from_name(const Name<Enum> (&names)[N], const char* what, std::string_view name) {
  for (const Name<Enum>& entry : names)
    if (name == entry.text) return entry.value;
  std::vector<const char*> allowed;
  for (const Name<Enum>& entry : names) allowed.push_back(entry.text);
  throw_unknown_name(what, name, allowed);
}

template <class Enum, std::size_t N>
[[nodiscard]] const char* to_name(const Name<Enum> (&names)[N], Enum value) {
  for (const Name<Enum>& entry : names)
    if (value == entry.value) return entry.text;
  return "unknown";
}

/// Calls function(name, value) for keyword arguments.
template <class F>
void for_each_argument(const nb::kwargs& arguments, const F& function) {
  for (auto [key, value] : arguments) function(nb::cast<std::string>(key), value);
}

[[noreturn]] void throw_unknown_option(const std::string& type, const std::string& name, const nb::list& known);

/// A class of options: `__init__` takes every field by its name, fields can be read and set, values are verified, and
/// it can be compared, printed and pickled.
template <class Options>
class OptionsClass {
 public:
  OptionsClass(nb::handle scope, const char* name, const char* doc) : class_(scope, name, doc), name_(name) {
    class_.attr("_fields") = nb::list();
    class_.def(
        "__init__",
        [](Options* self, const nb::kwargs& arguments) {
          new (self) Options();
          fill(*self, arguments);
        },
        "Every field by its name.");
    class_.def("__getstate__", [](const Options& self) { return fields(self); });
    class_.def("__setstate__", [](Options& self, const nb::dict& state) {
      new (&self) Options();
      for (auto [key, value] : state) set(self, nb::cast<std::string>(key), value);
    });
    class_.def("__repr__", [n = name_](const Options& self) {
      std::string text = n + "(";
      bool first = true;
      for (auto [key, value] : fields(self)) {
        text += (first ? "" : ", ") + nb::cast<std::string>(key) + "=" + nb::repr(value).c_str();
        first = false;
      }
      return text + ")";
    });
    class_.def(
        "__eq__", [](const Options& self, const Options& other) { return fields(self).equal(fields(other)); },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
  }

  template <class Value, class Owner>
  OptionsClass& field(const char* name, Value Owner::*member, const char* doc) {
    class_.def_prop_rw(
        name, [member](const Options& self) { return self.*member; },
        [member](Options& self, Value value) {
          Options changed = self;
          changed.*member = value;
          changed.verify();
          self = changed;
        },
        doc);
    nb::cast<nb::list>(class_.attr("_fields")).append(name);
    return *this;
  }

  template <class Enum, class Owner, std::size_t N>
  OptionsClass& named(const char* name, Enum Owner::*member, const Name<Enum> (&names)[N], const char* doc) {
    class_.def_prop_rw(
        name, [member, &names](const Options& self) { return to_name(names, self.*member); },
        [member, &names, name](Options& self, std::string_view value) { self.*member = from_name(names, name, value); },
        doc);
    nb::cast<nb::list>(class_.attr("_fields")).append(name);
    return *this;
  }

  /// Options from keyword arguments.
  static Options read(const nb::kwargs& arguments) {
    Options options;
    if (arguments.size() > 0) fill(options, arguments);
    return options;
  }

 private:
  static nb::dict fields(const Options& self) {
    const nb::object me = nb::cast(self);
    nb::dict out;
    for (nb::handle name : nb::cast<nb::list>(nb::type<Options>().attr("_fields"))) out[name] = nb::getattr(me, name);
    return out;
  }
  static void set(Options& self, const std::string& name, nb::handle value) {
    nb::object me = nb::cast(self);
    const nb::list known = nb::cast<nb::list>(nb::type<Options>().attr("_fields"));
    if (!nb::cast<bool>(known.attr("__contains__")(name)))
      throw_unknown_option(nb::type_name(nb::type<Options>()).c_str(), name, known);
    nb::setattr(me, name.c_str(), value);
    self = nb::cast<Options>(me);
  }
  static void fill(Options& self, const nb::kwargs& arguments) {
    for (auto [key, value] : arguments) set(self, nb::cast<std::string>(key), value);
    self.verify();
  }

  nb::class_<Options> class_;
  std::string name_;
};

void bind_geometry(nb::module_& m);
void bind_proximity(nb::module_& m);
void bind_pair_batch(nb::module_& m);
void bind_multibody(nb::module_& m);
void bind_world(nb::module_& m);
void bind_step(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_states(nb::module_& m);
void bind_broad_phase(nb::module_& m);
void bind_io(nb::module_& m);
void bind_trajopt(nb::module_& m);
void bind_experiments(nb::module_& m);
void bind_xla(nb::module_& m);

}  // namespace tangere::python

namespace nanobind::detail {

template <>
struct type_caster<tangere::python::Numbers> {
  NB_TYPE_CASTER(tangere::python::Numbers, const_name("numpy.typing.ArrayLike"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    value.object = source;
    return true;
  }
  static handle from_cpp(const tangere::python::Numbers& source, rv_policy, cleanup_list*) noexcept {
    return source.object.inc_ref();
  }
};

template <>
struct type_caster<tangere::python::Array> {
  NB_TYPE_CASTER(tangere::python::Array, const_name("numpy.typing.NDArray[numpy.float64]"))
  bool from_python(handle, std::uint32_t, cleanup_list*) noexcept { return false; }
  static handle from_cpp(const tangere::python::Array& source, rv_policy, cleanup_list*) noexcept {
    return source.object.inc_ref();
  }
};

template <>
struct type_caster<tangere::python::PoseLike> {
  NB_TYPE_CASTER(tangere::python::PoseLike, const_name("Pose | numpy.typing.ArrayLike"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    value.object = source;
    return true;
  }
  static handle from_cpp(const tangere::python::PoseLike& source, rv_policy, cleanup_list*) noexcept {
    return source.object.inc_ref();
  }
};

template <>
struct type_caster<tangere::python::Place> {
  NB_TYPE_CASTER(tangere::python::Place, const_name("int | str"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    value.object = source;
    return PyUnicode_Check(source.ptr()) || PyIndex_Check(source.ptr());
  }
  static handle from_cpp(const tangere::python::Place& source, rv_policy, cleanup_list*) noexcept {
    return source.object.inc_ref();
  }
};

}  // namespace nanobind::detail
