// Licences of the packages in this bundle: editor/licences.txt
import{T as a}from"./editor/chunk-6HXJBF5Q.js";export{a as createEditor};
