// Licences of the packages in this bundle: editor/licences.txt
import{T as a}from"./editor/chunk-CPGKWBH5.js";export{a as createEditor};
