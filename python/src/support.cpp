#include "python/src/support.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tangere::python {
namespace {

bool is_double(const Py_buffer& buffer) {
  return buffer.itemsize == sizeof(double) && buffer.format != nullptr && std::strcmp(buffer.format, "d") == 0;
}

/// What is wrong with something that is not numbers, in Python's own words.
std::string python_reason(nb::python_error& error) { return nb::str(error.value()).c_str(); }

std::string type_of(nb::handle object) { return nb::type_name(object.type()).c_str(); }

}  // namespace

Doubles::Doubles(const Numbers& numbers, const char* name) {
  constexpr int kFlags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS;
  // arrays of doubles are read where they are
  if (PyObject_CheckBuffer(numbers.object.ptr()) != 0) {
    if (PyObject_GetBuffer(numbers.object.ptr(), &buffer_, kFlags) == 0) {
      if (is_double(buffer_)) return;
      PyBuffer_Release(&buffer_);
    } else {
      PyErr_Clear();
    }
  }
  nb::object array;
  try {
    const nb::module_ numpy = nb::module_::import_("numpy");
    array = numpy.attr("array")(numbers.object, nb::arg("dtype") = "float64", nb::arg("order") = "C");
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    throw InputError(name, "must be numbers, got " + type_of(numbers.object) + " (" + python_reason(error) + ")");
  }
  if (PyObject_GetBuffer(array.ptr(), &buffer_, kFlags) != 0) throw nb::python_error();
  if (!is_double(buffer_)) {
    PyBuffer_Release(&buffer_);
    throw InputError(name, "must be numbers, got " + type_of(numbers.object));
  }
}

Doubles::~Doubles() { PyBuffer_Release(&buffer_); }

std::string Doubles::shape() const {
  std::string text = "(";
  for (int i = 0; i < rank(); ++i) text += (i > 0 ? ", " : "") + std::to_string(extent(i));
  return text + (rank() == 1 ? ",)" : ")");
}

VectorX read_vector(const Numbers& numbers, const char* name, Eigen::Index size) {
  const Doubles read(numbers, name);
  if (read.rank() != 1 || (size >= 0 && read.size() != size))
    throw InputError(name, "must have the shape (" + (size < 0 ? std::string("n") : std::to_string(size)) + ",), got " +
                               read.shape());
  return Eigen::Map<const VectorX>(read.data(), read.size());
}

VectorX read_vector_or_scalar(const Numbers& numbers, const char* name, Eigen::Index size) {
  if (PyFloat_Check(numbers.object.ptr()) || PyLong_Check(numbers.object.ptr())) {
    const double value = PyFloat_AsDouble(numbers.object.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw InputError(name, "must be a number that fits a double");
    }
    return VectorX::Constant(size, value);
  }
  const Doubles read(numbers, name);
  if (read.rank() == 0) return VectorX::Constant(size, read.data()[0]);
  if (read.rank() != 1 || read.size() != size)
    throw InputError(
        name, "must be one number for all or have the shape (" + std::to_string(size) + ",), got " + read.shape());
  return Eigen::Map<const VectorX>(read.data(), read.size());
}

Vector3 read_vector3(const Numbers& numbers, const char* name) {
  const Doubles read(numbers, name);
  if (read.rank() != 1 || read.size() != 3) throw InputError(name, "must have the shape (3,), got " + read.shape());
  return Eigen::Map<const Vector3>(read.data());
}

RowMatrix read_matrix(const Numbers& numbers, const char* name, Eigen::Index rows, Eigen::Index cols) {
  const Doubles read(numbers, name);
  const auto wrong = [](Eigen::Index wanted, Py_ssize_t got) { return wanted >= 0 && wanted != got; };
  if (read.rank() != 2 || wrong(rows, read.extent(0)) || wrong(cols, read.extent(1))) {
    const auto say = [](Eigen::Index n, const char* any) { return n < 0 ? std::string(any) : std::to_string(n); };
    throw InputError(name, "must have the shape (" + say(rows, "n") + ", " + say(cols, "m") + "), got " + read.shape());
  }
  return Eigen::Map<const RowMatrix>(read.data(), read.extent(0), read.extent(1));
}

Pose read_pose(const PoseLike& pose, const char* name) {
  if (nb::isinstance<Pose>(pose.object)) return ready<Pose>(pose.object);
  const Doubles read({pose.object}, name);
  const double* x = read.data();
  if (read.rank() == 1 && read.size() == 3) return Pose::translation({x[0], x[1], x[2]});
  try {
    if (read.rank() == 1 && read.size() == 7) return Pose::from_quaternion({x[0], x[1], x[2]}, x[3], x[4], x[5], x[6]);
  } catch (const InputError& error) {
    throw InputError(std::string(name) + "." + error.field(), error.reason());
  }
  if (read.rank() == 2 && read.extent(0) == 4 && read.extent(1) == 4) {
    const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor | Eigen::DontAlign>> m(x);
    if (!(m.row(3) == Eigen::RowVector4d(0.0, 0.0, 0.0, 1.0)))
      throw InputError(name, "must have the last row 0 0 0 1 where it is a 4 x 4 matrix");
    return {m.topLeftCorner<3, 3>(), m.topRightCorner<3, 1>()};
  }
  throw InputError(name,
                   "must be a Pose, a position (3,), a position and a quaternion x y z w (7,), or a matrix (4, 4); "
                   "got numbers of shape " +
                       read.shape());
}

int checked_index(long index, int size, const char* name) {
  if (index < 0 || index >= size)
    throw InputError(name, "must be from 0 to " + std::to_string(size - 1) + ", got " + std::to_string(index));
  return static_cast<int>(index);
}

Array empty_array(const std::vector<std::size_t>& shape, double*& data) {
  std::size_t size = 1;
  for (const std::size_t n : shape) size *= n;
  data = new double[std::max<std::size_t>(size, 1)];
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return {nb::cast(nb::ndarray<nb::numpy, double>(data, shape.size(), shape.data(), owner))};
}

Array new_array(const std::vector<std::size_t>& shape, const double* data) {
  std::size_t size = 1;
  for (const std::size_t n : shape) size *= n;
  double* to = nullptr;
  Array out = empty_array(shape, to);
  std::copy_n(data, size, to);
  return out;
}

Array view_array(const std::vector<std::size_t>& shape, double* data, nb::handle owner) {
  return {nb::cast(nb::ndarray<nb::numpy, double>(data, shape.size(), shape.data(), owner))};
}

void throw_unknown_name(const char* what, std::string_view name, const std::vector<const char*>& allowed) {
  std::string text = "must be one of";
  for (const char* one : allowed) text += std::string(one == allowed.front() ? " '" : ", '") + one + "'";
  throw InputError(what, text + "; got '" + std::string(name) + "'");
}

void throw_unknown_option(const std::string& type, const std::string& name, const nb::list& known) {
  std::string text = type + " has no option '" + name + "'; it has";
  bool first = true;
  for (nb::handle one : known) {
    text += (first ? " " : ", ") + nb::cast<std::string>(one);
    first = false;
  }
  throw nb::type_error(text.c_str());
}

}  // namespace tangere::python
