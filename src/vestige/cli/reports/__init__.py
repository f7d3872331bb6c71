"""The reports of ``vestige report``, one file each, and the forms that they come in.

:mod:`.kinds` has the table of reports, :mod:`.forms` that of forms.
"""
