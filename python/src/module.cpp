/// The module tangere._core.

#include <typeinfo>

#include "python/src/bind_experiments.hpp"
#include "python/src/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/version.hpp"

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  using namespace tangere::python;  // NOLINT(google-build-using-namespace): all of it is bound here
  m.doc() = "Tangere: differentiable contact.";
  m.attr("__version__") = nb::str(std::string(tangere::kVersion).c_str());

  // InputError(field, reason): a ValueError that also says what was wrong
  static nb::object input_error =
      nb::module_::import_("builtins")
          .attr("type")("InputError", nb::make_tuple(nb::handle(PyExc_ValueError)), nb::dict());
  input_error.attr("__module__") = "tangere";
  input_error.attr("__doc__") =
      "Wrong input. `field` names the quantity, `reason` says what is wrong with it, with the value and what is "
      "allowed.";
  m.attr("InputError") = input_error;
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const tangere::InputError& error) {
          const nb::handle error_type(static_cast<PyObject*>(type));
          try {
            const nb::object value = error_type(error.what());
            value.attr("field") = error.field();
            value.attr("reason") = error.reason();
            PyErr_SetObject(error_type.ptr(), value.ptr());
          } catch (nb::python_error& failure) {
            failure.restore();
          }
        }
      },
      input_error.ptr());

  // a nested argument of another type, deep inside a list or a saved state
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_cast&) {
      PyErr_SetString(PyExc_TypeError, "an argument holds something of another type than this function takes");
    }
  });

  bind_geometry(m);
  bind_proximity(m);
  bind_multibody(m);
  bind_world(m);
  bind_step(m);
  bind_batch(m);
  bind_pair_batch(m);
  bind_io(m);
  bind_experiments(m);
}
