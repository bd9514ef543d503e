"""The catalogue of tables and what is indexed of them."""
